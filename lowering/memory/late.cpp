#include "lowering/memory/late.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowering/loops/loops.h"
#include "lowering/memory/live_ranges.h"

namespace mtf {
namespace {

// Bytes of a result that no near cache keeps until it is read.
constexpr std::int64_t kWorthWaiting = 4 << 20;

class LateSteps {
 public:
  LateSteps(const SpmdProgram& program, const StepUses& uses)
      : program_(program),
        uses_(uses),
        lives_(live_ranges_of(program, uses)),
        segments_(segments_of(uses.marks())),
        first_(program.values.size(), kProgramEnd),
        changes_(program.values.size(), 0),
        before_(uses.size()) {
    for (std::size_t s = uses.size(); s-- > 0;) {
      for (const Use& use : uses.of(s)) {
        if (use.kind == UseKind::kRead && lives_.made[at(use.value)] != number(s)) {
          first_[at(use.value)] = number(s);
        }
      }
    }
    for (const SpmdUpdate& update : program.updates) {
      changes_[at(program.inputs[update.input])] = 1;
    }
    for (const WorkingCopy& copy : program.copies) {
      changes_[at(copy.value)] = 1;
    }
  }

  std::vector<std::size_t> order() && {
    std::vector<std::vector<std::size_t>> waiting(uses_.size());
    for (std::size_t s = uses_.size(); s-- > 0;) {
      before_[s] = reader_to_wait_for(s);
      if (before_[s]) {
        keep_operands(s, *before_[s]);
        waiting[*before_[s]].insert(waiting[*before_[s]].begin(), s);
      }
    }
    std::vector<std::size_t> order;
    order.reserve(uses_.size());
    for (std::size_t s = 0; s < uses_.size(); ++s) {
      if (!before_[s]) {
        order.insert(order.end(), waiting[s].begin(), waiting[s].end());
        order.push_back(s);
      }
    }
    return order;
  }

 private:
  void keep_operands(std::size_t s, std::size_t until) {
    for (const Use& use : uses_.of(s)) {
      std::int32_t& last = lives_.last[at(use.value)];
      last = use.kind == UseKind::kRead ? std::max(last, number(until)) : last;
    }
  }

  static std::int32_t number(std::size_t s) { return static_cast<std::int32_t>(s); }

  [[nodiscard]] bool may_wait(std::size_t s) const {
    const StepUse& step = uses_[s];
    return step.is_kernel && step.is_lone && !step.has_effect && !step.makes_number &&
           !step.in_pieces && step.mark == LoopMark::kNone &&
           program_.steps[step.step].calls.front().op().algebra == Algebra::kEinsum;
  }

  // The only step that reads what it makes, if waiting for that takes less memory.
  [[nodiscard]] std::optional<std::size_t> reader_to_wait_for(std::size_t s) const {
    if (!may_wait(s)) {
      return std::nullopt;
    }
    const SpmdId result = uses_.of(s).back().value;
    const std::int32_t last = lives_.last[at(result)];
    const std::int64_t made = uses_.bytes(result).held;
    if (made < kWorthWaiting || last <= number(s) + 1 || last == kProgramEnd ||
        first_[at(result)] != last) {
      return std::nullopt;
    }
    const auto reader = static_cast<std::size_t>(last);
    if (!uses_[reader].is_kernel || uses_[reader - 1].passes || before_[reader] ||
        segments_[reader] != segments_[s]) {
      return std::nullopt;
    }
    std::int64_t longer = 0;  // bytes that live longer
    for (const Use& use : uses_.of(s)) {
      if (use.kind == UseKind::kRead && changes_[at(use.value)] != 0) {
        return std::nullopt;
      }
      const bool dies = use.kind == UseKind::kRead && lives_.made[at(use.value)] >= 0 &&
                        lives_.last[at(use.value)] < last;
      longer += dies ? uses_.bytes(use.value).held : 0;
    }
    return longer < made ? std::optional(reader) : std::nullopt;
  }

  const SpmdProgram& program_;
  const StepUses& uses_;
  LiveRanges lives_;
  std::vector<std::size_t> segments_;               // per step, of the loops
  std::vector<std::int32_t> first_;                 // per value: the first other step that reads it
  std::vector<char> changes_;                       // per value: it is overwritten by an update
  std::vector<std::optional<std::size_t>> before_;  // per step: right before which it is done
};

}  // namespace

std::vector<std::size_t> late_order(const SpmdProgram& program, const StepUses& uses) {
  return LateSteps(program, uses).order();
}

}  // namespace mtf
