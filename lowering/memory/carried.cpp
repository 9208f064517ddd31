#include "lowering/memory/carried.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace mtf {
namespace {

class LoopsOfSteps {
 public:
  LoopsOfSteps(const SpmdProgram& program, const StepUses& uses) : program_(program), uses_(uses) {}

  // The carried value and the one that it takes, where a step hands one on.
  [[nodiscard]] std::optional<std::pair<SpmdId, SpmdId>> handed_on(std::size_t s) const {
    const Step& step = this->step(s);
    if (step.calls.empty() || step.calls.front().op().primitive != Primitive::kNext) {
      return std::nullopt;
    }
    return std::pair(step.calls.front().operands[0], step.calls.front().operands[1]);
  }

  // The step of a loop whose kernel makes `id`.
  [[nodiscard]] std::optional<std::size_t> made_in(const LoopSteps& loop, SpmdId id) const {
    for (std::size_t s = loop.begin; s < loop.end; ++s) {
      if (std::ranges::find(step(s).calls, id, &LocalCall::result) != step(s).calls.end()) {
        return s;
      }
    }
    return std::nullopt;
  }

  // Whether the rest of a trip, behind the step `made`, reads what `id` was before it takes its
  // next value.
  [[nodiscard]] bool is_read_behind(const LoopSteps& loop, SpmdId id, std::size_t made) const {
    for (std::size_t s = loop.begin; s < loop.end; ++s) {
      const auto next = handed_on(s);
      const bool takes = next && next->first == id;
      if (!takes && uses_.done(s) > made && reads(uses_.of(s), id)) {
        return true;
      }
    }
    return false;
  }

 private:
  [[nodiscard]] const Step& step(std::size_t s) const { return program_.steps[uses_[s].step]; }

  const SpmdProgram& program_;
  const StepUses& uses_;
};

}  // namespace

std::vector<SpmdId> carried_by(const SpmdProgram& program, const StepUses& uses) {
  std::vector<SpmdId> carried(program.values.size());
  std::vector<char> seen(uses.size());  // of an inner loop
  const LoopsOfSteps steps(program, uses);
  for (const LoopSteps& loop : loops_of(uses.marks())) {
    for (std::size_t s = loop.begin; s < loop.end; ++s) {
      const auto next = steps.handed_on(s);
      if (!next || std::exchange(seen[s], 1) != 0) {
        continue;
      }
      const auto [to, from] = *next;
      const std::optional<std::size_t> made = steps.made_in(loop, from);
      if (made && !carried[at(from)].valid() && !steps.is_read_behind(loop, to, *made)) {
        carried[at(from)] = to;
      }
    }
  }
  return carried;
}

}  // namespace mtf
