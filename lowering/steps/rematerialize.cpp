#include "lowering/steps/rematerialize.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "lowering/loops/loops.h"
#include "lowering/steps/bands.h"

namespace mtf {
namespace {

constexpr std::size_t kMostCalls = 6;       // that a value is computed again by
constexpr std::int64_t kLeastBytes = 4096;  // of a value that is worth it
constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

class Rematerializer {
 public:
  explicit Rematerializer(SpmdProgram& program)
      : program_(program),
        segments_(segments_of(program)),
        maker_(program.values.size(), kNobody),
        readers_(program.values.size()),
        last_read_(program.values.size(), 0),
        kept_(program.values.size(), 0) {
    for (const SpmdId output : program.outputs) {
      kept_[at(output)] = 1;
    }
    for (const SpmdUpdate& update : program.updates) {
      kept_[at(update.value)] = 1;
    }
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
      note(s);
      for_read(program.steps[s], [&](SpmdId id) { last_read_[at(id)] = s; });
    }
  }

  void run() {
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      if (!is_chain(program_.steps[s])) {
        continue;
      }
      for (std::size_t c = 0; c < program_.steps[s].calls.size(); ++c) {
        const LocalCall& call = program_.steps[s].calls[c];
        if (may_go(call.result) && is_element_wise(call)) {
          consider(s, call.result);
        }
      }
    }
    drop_unread();
  }

 private:
  // Who makes what, and who reads it.
  void note(std::size_t s) {
    const Step& step = program_.steps[s];
    if (step.kind != StepKind::kKernel) {
      add_reader(step.from, s);
      maker_[at(step.to)] = s;
    }
    for (const LocalCall& call : step.calls) {
      if (call.result.valid()) {
        maker_[at(call.result)] = s;
      }
      for (const SpmdId id : call.operands) {
        add_reader(id, s);
      }
    }
  }

  // Whether a value is worth it, and nobody behind the program wants it.
  [[nodiscard]] bool may_go(SpmdId id) const {
    return kept_[at(id)] == 0 && bytes_of(id) >= kLeastBytes;
  }

  // Of what a chain makes; nothing else is computed again.
  void add_reader(SpmdId id, std::size_t s) {
    const std::size_t maker = id.valid() ? maker_[at(id)] : kNobody;
    if (maker == kNobody || !is_chain(program_.steps[maker]) || !may_go(id)) {
      return;
    }
    std::vector<std::size_t>& readers = readers_[at(id)];
    if (std::ranges::find(readers, s) == readers.end()) {
      readers.push_back(s);
    }
  }

  [[nodiscard]] std::int64_t bytes_of(SpmdId id) const { return program_.at(id).local.bytes(); }

  [[nodiscard]] const LocalCall* call_of(std::size_t s, SpmdId id) const {
    for (const LocalCall& call : program_.steps[s].calls) {
      if (call.result == id) {
        return &call;
      }
    }
    return nullptr;
  }

  // ---- what a value is computed from ---------------------------------------------------------

  // The calls of step s that make the value from what is in memory, in order; empty: they are too
  // many or too dear, or read more than the value itself would be.
  [[nodiscard]] std::vector<const LocalCall*> cheap_calls(std::size_t s, SpmdId value) const {
    std::vector<const LocalCall*> calls;
    std::vector<SpmdId> to_visit = {value};
    SpmdId large;  // the one thing in memory that is not much smaller
    while (!to_visit.empty() && calls.size() <= kMostCalls) {
      const SpmdId id = to_visit.back();
      to_visit.pop_back();
      const LocalCall* call = cheap_call(s, id);
      if (call != nullptr && !is_narrowed(s, *call, value)) {
        if (std::ranges::find(calls, call) == calls.end()) {
          calls.push_back(call);
          to_visit.insert(to_visit.end(), call->operands.begin(), call->operands.end());
        }
      } else if (id != large && kMuchSmaller * bytes_of(id) > bytes_of(value)) {
        if (large.valid() || !(call != nullptr || may_be_read(s, id, value))) {
          return {};
        }
        large = id;
      }
    }
    if (calls.size() > kMostCalls) {
      return {};
    }
    std::ranges::sort(calls);  // they lie in one list
    return calls;
  }

  // Whether what a call on the way makes had better be kept than what it is made from, which is
  // larger and of no other use: a wide sum that was cast to a narrow dtype. Inputs stay anyway.
  [[nodiscard]] bool is_narrowed(std::size_t s, const LocalCall& call, SpmdId value) const {
    return call.result != value && may_go(call.result) &&
           std::ranges::any_of(call.operands, [&](SpmdId from) {
             const std::size_t maker = maker_[at(from)];
             return maker != kNobody && maker != s && last_read_[at(from)] == s &&
                    bytes_of(from) > bytes_of(call.result);
           });
  }

  // Null: something else makes it.
  [[nodiscard]] const LocalCall* cheap_call(std::size_t s, SpmdId id) const {
    const LocalCall* call = maker_[at(id)] == s ? call_of(s, id) : nullptr;
    return call != nullptr && is_element_wise(*call) && is_cheap(*call) ? call : nullptr;
  }

  // Whether it is in memory, of another step, and no larger than the value that is made of it.
  [[nodiscard]] bool may_be_read(std::size_t s, SpmdId id, SpmdId value) const {
    return maker_[at(id)] != s && bytes_of(id) <= bytes_of(value);
  }

  // What is done in registers.
  static bool is_cheap(const LocalCall& call) {
    const OpDef& op = call.op();
    return op.lanes != LaneFn::kNone || (call.operands.empty() && !op.random && !op.effect);
  }

  // ---- who reads it --------------------------------------------------------------------------

  void consider(std::size_t s, SpmdId value) {
    std::vector<std::size_t> outside = readers_[at(value)];
    std::erase(outside, s);
    if (outside.empty()) {
      return;
    }
    const std::vector<const LocalCall*> calls = cheap_calls(s, value);
    if (calls.empty() || !std::ranges::all_of(outside, [&](std::size_t reader) {
          return segments_[reader] == segments_[s] && may_take(reader, value, calls);
        })) {
      return;
    }
    for (const std::size_t reader : outside) {
      take(reader, value, calls);
    }
    readers_[at(value)] = {s};
  }

  [[nodiscard]] bool may_take(std::size_t reader, SpmdId value,
                              const std::vector<const LocalCall*>& calls) const {
    const Step& step = program_.steps[reader];
    if (!is_chain(step) || step.calls.size() + calls.size() > kMaxChain) {
      return false;
    }
    const SpmdValue& made = program_.at(value);
    const SpmdValue& last = program_.at(step.calls.back().result);
    if (made.layout->where != last.layout->where) {
      return false;
    }
    const auto is_alike = [&](const LocalCall& call) {
      const SpmdValue& other = program_.at(call.result);
      return other.local.shape == made.local.shape && other.type.shape == made.type.shape;
    };
    const bool all_alike =
        std::ranges::all_of(calls, [&](const LocalCall* call) { return is_alike(*call); });
    if (std::ranges::none_of(step.calls, is_reduction)) {
      return all_alike && std::ranges::all_of(step.calls, is_alike);
    }
    Chain chain(calls.begin(), calls.end());
    for (const LocalCall& call : step.calls) {
      chain.push_back(&call);
    }
    return may_run_in_bands(program_, extent_of(program_, chain), [&chain] { return chain; });
  }

  // Computes the value at the front of the reader's chain, which is another than that of the calls.
  void take(std::size_t reader, SpmdId value, const std::vector<const LocalCall*>& calls) {
    Step& step = program_.steps[reader];
    std::map<SpmdId, SpmdId> copies;
    std::vector<LocalCall> first;
    for (const LocalCall* call : calls) {
      LocalCall& copy = first.emplace_back(*call);
      for (SpmdId& operand : copy.operands) {
        const auto found = copies.find(operand);
        operand = found == copies.end() ? operand : found->second;
        add_reader(operand, reader);
      }
      copy.result = copy_of(call->result, reader);
      copies.emplace(call->result, copy.result);
      step.flops += flops_of(program_, copy);
    }
    for (LocalCall& call : step.calls) {
      std::ranges::replace(call.operands, value, copies.at(value));
    }
    add_reader(copies.at(value), reader);
    step.calls.insert(step.calls.begin(), std::make_move_iterator(first.begin()),
                      std::make_move_iterator(first.end()));
  }

  SpmdId copy_of(SpmdId value, std::size_t maker) {
    program_.values.push_back(program_.at(value));
    maker_.push_back(maker);
    readers_.emplace_back();
    last_read_.push_back(maker);
    kept_.push_back(0);
    return {static_cast<std::int32_t>(program_.values.size() - 1)};
  }

  // ---- what is left --------------------------------------------------------------------------

  // Backwards, as what was read by what goes may go, too.
  void drop_unread() {
    std::vector<int> uses(program_.values.size(), 0);
    for (const Step& step : program_.steps) {
      for_read(step, [&uses](SpmdId id) { ++uses[at(id)]; });
    }
    for (std::size_t s = program_.steps.size(); s-- > 0;) {
      if (is_chain(program_.steps[s])) {
        drop_unread(program_.steps[s], uses);
      }
    }
    std::erase_if(program_.steps, [](const Step& step) {
      return step.kind == StepKind::kKernel && step.calls.empty();
    });
  }

  void drop_unread(Step& step, std::vector<int>& uses) const {
    for (std::size_t c = step.calls.size(); c-- > 0;) {
      const LocalCall& call = step.calls[c];
      if (uses[at(call.result)] > 0 || kept_[at(call.result)] != 0 || !is_element_wise(call)) {
        continue;
      }
      for (const SpmdId operand : call.operands) {
        --uses[at(operand)];
      }
      step.flops -= flops_of(program_, call);
      step.calls.erase(step.calls.begin() + static_cast<std::ptrdiff_t>(c));
    }
  }

  SpmdProgram& program_;
  std::vector<std::size_t> segments_;              // per step, of the loops
  std::vector<std::size_t> maker_;                 // per value, the step
  std::vector<std::vector<std::size_t>> readers_;  // per value, the steps
  std::vector<std::size_t> last_read_;             // per value, the last step before this
  std::vector<char> kept_;                         // per value: it is returned, or a variable's
};

}  // namespace

void rematerialize(SpmdProgram& program) {
  Rematerializer(program).run();
}

}  // namespace mtf
