#include "lowering/memory/step_uses.h"

#include <algorithm>
#include <utility>

namespace mtf {
namespace {

// Finds the steps that make nothing but single numbers, from none or from such as are there at
// first: they may be done before all others.
class NumberSteps {
 public:
  explicit NumberSteps(const SpmdProgram& program) : is_early_(program.values.size(), 0) {
    for (const SpmdId input : program.inputs) {
      is_early_[at(input)] = program.at(input).type.shape.rank() == 0 ? 1 : 0;
    }
  }

  // Whether the next step is one. What a loop carries changes from trip to trip, so none is that
  // stands in or behind a loop and reads something.
  bool next(const Step& step) {
    is_before_loops_ = is_before_loops_ && loop_mark(step) == LoopMark::kNone;
    return step.kind == StepKind::kKernel && !step.calls.empty() &&
           std::ranges::all_of(step.calls, [this](const LocalCall& call) {
             const bool is_number = makes_number(call);
             if (is_number) {
               is_early_[at(call.result)] = 1;
             }
             return is_number;
           });
  }

 private:
  [[nodiscard]] bool makes_number(const LocalCall& call) const {
    const OpDef& op = call.op();
    return call.result.valid() && call.split->call.result.shape.rank() == 0 && !op.random &&
           !op.effect && op.file == FileUse::kNone && (is_before_loops_ || call.operands.empty()) &&
           std::ranges::all_of(call.operands, [this](SpmdId id) { return is_early_[at(id)] != 0; });
  }

  std::vector<char> is_early_;  // per value
  bool is_before_loops_ = true;
};

StepUse use_of(const SpmdProgram& program, std::size_t number) {
  const Step& step = program.steps[number];
  const bool is_kernel = step.kind == StepKind::kKernel;
  const bool has_effect =
      std::ranges::any_of(step.calls, [](const LocalCall& call) { return call.op().effect; });
  return {.step = static_cast<std::uint32_t>(number),
          .is_kernel = is_kernel,
          .is_collective = is_collective(step.kind),
          .is_lone = step.calls.size() == 1,
          .has_effect = has_effect,
          .in_pieces = is_kernel && step.calls.front().stream->parts > 1,
          .with_next = step.with_next,
          .passes = !is_kernel && program.at(step.to).pieces > 1,
          .mark = loop_mark(step)};
}

void add_uses(const Step& step, std::vector<Use>& uses) {
  const bool is_kernel = step.kind == StepKind::kKernel;
  if (step.calls.empty()) {
    uses.push_back({.value = step.from});
  }
  for (const LocalCall& call : step.calls) {
    for (const SpmdId operand : call.operands) {
      uses.push_back({.value = operand});
    }
    if (is_kernel && call.result.valid()) {
      uses.push_back({.value = call.result, .kind = UseKind::kResult});
    }
    if (is_kernel) {
      for (const SpmdId partial : call.stream->partials) {
        uses.push_back({.value = partial, .kind = UseKind::kPartial});
      }
    }
  }
  if (!is_kernel) {
    uses.push_back({.value = step.to, .kind = UseKind::kResult});
  }
}

}  // namespace

bool reads(std::span<const Use> uses, SpmdId id) {
  return std::ranges::any_of(
      uses, [id](const Use& use) { return use.kind == UseKind::kRead && use.value == id; });
}

StepUses::StepUses(const SpmdProgram& program) {
  steps_.reserve(program.steps.size());
  all_.reserve(4 * program.steps.size());
  NumberSteps numbers(program);
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    StepUse use = use_of(program, s);
    use.begin = static_cast<std::uint32_t>(all_.size());
    add_uses(program.steps[s], all_);
    use.end = static_cast<std::uint32_t>(all_.size());
    use.makes_number = numbers.next(program.steps[s]);
    steps_.push_back(use);
  }
  bytes_.reserve(program.values.size());
  for (const SpmdValue& value : program.values) {
    const std::int64_t local = value.local.bytes();
    bytes_.push_back({.local = local, .held = value.pieces == 1 ? local : value.held_bytes()});
  }
}

std::size_t StepUses::done(std::size_t step) const {
  while (steps_[step].passes) {
    ++step;
  }
  return step;
}

std::size_t StepUses::sent(std::size_t step) const {
  while (steps_[step].with_next) {
    ++step;
  }
  return step;
}

std::vector<LoopMark> StepUses::marks() const {
  std::vector<LoopMark> marks(steps_.size());
  std::ranges::transform(steps_, marks.begin(), &StepUse::mark);
  return marks;
}

void StepUses::reorder(std::span<const std::size_t> order) {
  std::vector<StepUse> steps;
  steps.reserve(order.size());
  for (const std::size_t step : order) {
    steps.push_back(steps_[step]);
  }
  steps_ = std::move(steps);
}

}  // namespace mtf
