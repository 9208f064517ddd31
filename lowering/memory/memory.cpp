#include "lowering/memory/memory.h"

#include <algorithm>
#include <vector>

#include "lowering/loops/loops.h"
#include "lowering/memory/arena.h"
#include "lowering/memory/live_ranges.h"
#include "lowering/steps/bands.h"

namespace mtf {
namespace {

class Planner {
 public:
  explicit Planner(SpmdProgram& program)
      : program_(program),
        lives_(live_ranges_of(program)),
        carried_(carried_by(program)),
        lent_(program.values.size(), 0),
        block_(program.values.size(), 0) {}

  bool run(std::int64_t below) {
    for (SpmdValue& value : program_.values) {
      value.home = Home::kNone;
      value.offset = 0;
    }
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
    choose_homes();
    const std::int64_t apart = bytes_apart();
    if (apart + most_at_once(blocks_) >= below) {
      return false;
    }
    set_offsets();
    program_.totals.peak_bytes = apart + program_.arena_bytes;
    return program_.totals.peak_bytes < below;
  }

 private:
  static std::size_t index(SpmdId id) { return static_cast<std::size_t>(id.index); }

  void settle(SpmdId id, Home home, std::size_t which) {
    program_.at(id).home = home;
    program_.at(id).offset = static_cast<std::int64_t>(which);
  }

  // A result that nobody reads still needs a place to be written to, unless it is one of a chain.
  [[nodiscard]] bool needs_memory(const Step& step, SpmdId id) const {
    return lives_.kept[index(id)] != 0 || step.calls.size() == 1;
  }

  void update_in_place(const SpmdUpdate& update) {
    const SpmdId old = program_.inputs[update.input];
    const SpmdId fresh = update.value;
    const SpmdValue& value = program_.at(fresh);
    const std::int32_t step = lives_.made[index(fresh)];
    if (value.home != Home::kNone || step < 0 || lives_.last[index(old)] > step ||
        value.local != program_.at(old).local) {
      return;
    }
    if (may_overwrite(program_.steps[static_cast<std::size_t>(step)], old, fresh)) {
      settle(fresh, Home::kInput, update.input);
    }
  }

  // A chain reads each element before it writes it, as long as it reads the operand in the order in
  // which it runs over the result, and not after that call. Its reductions read a band before the
  // result of that band is written.
  [[nodiscard]] bool may_overwrite(const Step& step, SpmdId operand, SpmdId result) const {
    if (step.kind != StepKind::kKernel || !result.valid() ||
        program_.at(operand).local.shape != program_.at(result).local.shape) {
      return false;
    }
    bool written = false;
    for (const LocalCall& call : step.calls) {
      const bool reads = std::ranges::find(call.operands, operand) != call.operands.end();
      if (!runs_along(call, result) && (reads || call.result == result)) {
        return false;
      }
      if (reads && written) {
        return false;
      }
      written = written || call.result == result;
    }
    return true;
  }

  // Whether the call goes over the elements of the result one by one, or band by band.
  [[nodiscard]] bool runs_along(const LocalCall& call, SpmdId result) const {
    return call.call.op->tile == nullptr
               ? is_reduction(call)
               : call.result.valid() &&
                     program_.at(call.result).local.shape == program_.at(result).local.shape;
  }

  void choose_homes() {
    std::vector<std::vector<SpmdId>> dying(program_.steps.size());
    for (std::size_t v = 0; v < program_.values.size(); ++v) {
      if (lives_.last[v] >= 0 && lives_.last[v] != kProgramEnd) {
        dying[static_cast<std::size_t>(lives_.last[v])].push_back({static_cast<std::int32_t>(v)});
      }
    }
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      Step& step = program_.steps[s];
      now_ = static_cast<std::int32_t>(s);
      if (step.kind != StepKind::kKernel) {
        take(step.to);
      } else {
        for (const LocalCall& call : step.calls) {
          take_results(step, call, dying[s]);
        }
      }
      for (const SpmdId value : dying[s]) {
        release(value);
      }
      release_unread(step, s);
    }
  }

  void set_offsets() {
    program_.arena_bytes = mtf::place(blocks_);
    for (std::size_t v = 0; v < program_.values.size(); ++v) {
      if (program_.values[v].home == Home::kArena) {
        program_.values[v].offset = blocks_[block_[v]].offset;
      }
    }
  }

  void take_results(const Step& step, const LocalCall& call, std::vector<SpmdId>& dying) {
    if (call.result.valid() && needs_memory(step, call.result)) {
      take_over_or_new(step, call.result, dying);
    }
    for (const SpmdId partial : call.stream.partials) {
      take(partial);
    }
  }

  void take(SpmdId id) {
    SpmdValue& value = program_.at(id);
    if (value.home == Home::kNone) {
      value.home = Home::kArena;
      block_[index(id)] = blocks_.size();
      blocks_.push_back({.bytes = value.held_bytes(), .first = now_, .last = kProgramEnd});
    }
  }

  // Writes over an operand that dies here where it can.
  void take_over_or_new(const Step& step, SpmdId id, std::vector<SpmdId>& dying) {
    SpmdValue& value = program_.at(id);
    if (value.home != Home::kNone || settle_as_carried(step, id)) {
      return;
    }
    for (SpmdId& operand : dying) {
      const SpmdValue& old = program_.at(operand);
      if (old.home == Home::kArena && operand != id &&
          lives_.made[index(operand)] != lives_.made[index(id)] &&
          old.local.bytes() == value.local.bytes() &&
          bytes_of(old.type.dtype) == bytes_of(value.type.dtype) &&
          may_overwrite(step, operand, id)) {
        value.home = Home::kArena;
        block_[index(id)] = block_[index(operand)];
        operand = dying.back();
        dying.pop_back();
        return;
      }
    }
    take(id);
  }

  // What a trip hands on is made where it is carried, so that nothing has to be copied.
  bool settle_as_carried(const Step& step, SpmdId id) {
    const SpmdId carried = carried_[index(id)];
    if (!carried.valid() || program_.at(carried).local != program_.at(id).local) {
      return false;
    }
    const std::vector<SpmdId> read = read_by(step);
    const bool is_read = std::ranges::find(read, carried) != read.end();
    if (program_.at(carried).home == Home::kInput ||
        (is_read && !may_overwrite(step, carried, id))) {
      return false;
    }
    program_.at(id).home = program_.at(carried).home;
    program_.at(id).offset = program_.at(carried).offset;
    block_[index(id)] = block_[index(carried)];
    lent_[index(id)] = 1;
    return true;
  }

  void release(SpmdId id) {
    if (program_.at(id).home == Home::kArena && lent_[index(id)] == 0) {
      blocks_[block_[index(id)]].last = now_;
    }
  }

  void release_unread(const Step& step, std::size_t s) {
    const auto unread = [&](SpmdId id) {
      return id.valid() && lives_.last[index(id)] < 0 &&
             lives_.made[index(id)] == static_cast<int>(s);
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
      for (const SpmdId partial : call.stream.partials) {
        release(partial);
      }
    }
  }

  // Of what is not in the arena.
  [[nodiscard]] std::int64_t bytes_apart() const {
    std::int64_t bytes = 0;
    for (const SpmdId input : program_.inputs) {
      bytes += rounded(program_.at(input).local.bytes());
    }
    for (const SpmdId output : program_.outputs) {
      bytes += rounded(program_.at(output).local.bytes());
    }
    return bytes;
  }

  SpmdProgram& program_;
  LiveRanges lives_;
  std::vector<ArenaBlock> blocks_;
  std::vector<SpmdId> carried_;     // per value: which it takes the place of
  std::vector<char> lent_;          // whether it is in the memory of one that stays
  std::vector<std::size_t> block_;  // per value in the arena
  std::int32_t now_ = 0;            // the step
};

}  // namespace

bool plan_memory(SpmdProgram& program, std::int64_t below) {
  return Planner(program).run(below);
}

}  // namespace mtf
