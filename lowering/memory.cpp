#include "lowering/memory.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "lowering/arena.h"

namespace mtf {
namespace {

constexpr std::int32_t kEnd = 1 << 30;  // read after the last step

class Planner {
 public:
  explicit Planner(SpmdProgram& program)
      : program_(program),
        made_(program.values.size(), -1),
        last_(program.values.size(), -1),
        kept_(program.values.size(), 0) {}

  void run() {
    lives();
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      settle(program_.inputs[i], Home::kInput, i);
    }
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      if (program_.at(program_.outputs[i]).home == Home::kNone) {
        settle(program_.outputs[i], Home::kOutput, i);
      }
    }
    for (const SpmdUpdate& update : program_.updates) {
      update_in_place(update);
    }
    place();
    total();
  }

 private:
  static std::size_t index(SpmdId id) { return static_cast<std::size_t>(id.index); }

  void settle(SpmdId id, Home home, std::size_t which) {
    program_.at(id).home = home;
    program_.at(id).offset = static_cast<std::int64_t>(which);
  }

  // When each value is made and last read, and whether it is read outside its own step.
  void lives() {
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      const Step& step = program_.steps[s];
      const auto at = static_cast<std::int32_t>(s);
      if (step.kind != StepKind::kKernel) {
        read(step.from, at);
        made_[index(step.to)] = at;
        continue;
      }
      for (const LocalCall& call : step.calls) {
        for (const SpmdId operand : call.operands) {
          read(operand, at);
        }
        if (call.result.valid()) {
          made_[index(call.result)] = at;
        }
      }
    }
    for (const SpmdId output : program_.outputs) {
      read(output, kEnd);
    }
    for (const SpmdUpdate& update : program_.updates) {
      read(update.value, kEnd);
    }
  }

  void read(SpmdId id, std::int32_t at) {
    last_[index(id)] = std::max(last_[index(id)], at);
    if (made_[index(id)] != at) {
      kept_[index(id)] = 1;
    }
  }

  // A result that nobody reads still needs a place to be written to, unless it is one of a chain.
  [[nodiscard]] bool needs_memory(const Step& step, SpmdId id) const {
    return kept_[index(id)] != 0 || step.calls.size() == 1;
  }

  void update_in_place(const SpmdUpdate& update) {
    const SpmdId old = program_.inputs[update.input];
    const SpmdId fresh = update.value;
    const SpmdValue& value = program_.at(fresh);
    const std::int32_t step = made_[index(fresh)];
    if (value.home != Home::kNone || step < 0 || last_[index(old)] > step ||
        value.local != program_.at(old).local) {
      return;
    }
    if (may_overwrite(program_.steps[static_cast<std::size_t>(step)], old, fresh)) {
      settle(fresh, Home::kInput, update.input);
    }
  }

  // A chain of element-wise calls reads each element before it writes it, as long as it reads the
  // operand in the order in which it runs over the result, and not after that call.
  [[nodiscard]] bool may_overwrite(const Step& step, SpmdId operand, SpmdId result) const {
    if (step.kind != StepKind::kKernel || !step.calls.back().result.valid()) {
      return false;
    }
    const Shape& order = program_.at(step.calls.back().result).local.shape;
    bool written = false;
    for (const LocalCall& call : step.calls) {
      const bool reads = std::ranges::find(call.operands, operand) != call.operands.end();
      if (call.call.op->tile == nullptr ||
          (reads && (written || program_.at(operand).local.shape != order))) {
        return false;
      }
      written = written || call.result == result;
    }
    return true;
  }

  void place() {
    std::vector<std::vector<SpmdId>> dying(program_.steps.size());
    for (std::size_t v = 0; v < program_.values.size(); ++v) {
      if (last_[v] >= 0 && last_[v] != kEnd) {
        dying[static_cast<std::size_t>(last_[v])].push_back({static_cast<std::int32_t>(v)});
      }
    }
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      Step& step = program_.steps[s];
      if (step.kind != StepKind::kKernel) {
        take(step.to);
      } else {
        for (const LocalCall& call : step.calls) {
          if (call.result.valid() && needs_memory(step, call.result)) {
            take_over_or_new(step, call.result, dying[s]);
          }
        }
      }
      for (const SpmdId value : dying[s]) {
        release(value);
      }
      release_unread(step, s);
    }
    program_.arena_bytes = arena_.size();
  }

  void take(SpmdId id) {
    SpmdValue& value = program_.at(id);
    if (value.home == Home::kNone) {
      value.home = Home::kArena;
      value.offset = arena_.take(value.local.bytes());
    }
  }

  // Writes over an operand that dies here where it can.
  void take_over_or_new(const Step& step, SpmdId id, std::vector<SpmdId>& dying) {
    SpmdValue& value = program_.at(id);
    if (value.home != Home::kNone) {
      return;
    }
    for (SpmdId& operand : dying) {
      const SpmdValue& old = program_.at(operand);
      if (old.home == Home::kArena && operand != id && made_[index(operand)] != made_[index(id)] &&
          old.local.bytes() == value.local.bytes() &&
          bytes_of(old.type.dtype) == bytes_of(value.type.dtype) &&
          may_overwrite(step, operand, id)) {
        value.home = Home::kArena;
        value.offset = old.offset;
        operand = dying.back();
        dying.pop_back();
        return;
      }
    }
    take(id);
  }

  void release(SpmdId id) {
    const SpmdValue& value = program_.at(id);
    if (value.home == Home::kArena) {
      arena_.give_back(value.offset, value.local.bytes());
    }
  }

  void release_unread(const Step& step, std::size_t s) {
    const auto unread = [&](SpmdId id) {
      return id.valid() && last_[index(id)] < 0 && made_[index(id)] == static_cast<int>(s);
    };
    if (step.kind != StepKind::kKernel) {
      if (unread(step.to)) {
        release(step.to);
      }
      return;
    }
    for (const LocalCall& call : step.calls) {
      if (unread(call.result)) {
        release(call.result);
      }
    }
  }

  void total() {
    std::int64_t bytes = program_.arena_bytes;
    for (const SpmdId input : program_.inputs) {
      bytes += Arena::rounded(program_.at(input).local.bytes());
    }
    for (const SpmdId output : program_.outputs) {
      bytes += Arena::rounded(program_.at(output).local.bytes());
    }
    program_.totals.peak_bytes = bytes;
  }

  SpmdProgram& program_;
  Arena arena_;
  std::vector<std::int32_t> made_;  // step that makes the value; -1: an input
  std::vector<std::int32_t> last_;  // last step that reads it; -1: none
  std::vector<char> kept_;          // read by another step than its own
};

}  // namespace

void plan_memory(SpmdProgram& program) {
  Planner(program).run();
}

}  // namespace mtf
