#include "lowering/memory/step_uses.h"

#include <algorithm>
#include <utility>

namespace mtf {
namespace {

bool is_free_constant(const Step& step, bool has_effect) {
  return step.calls.size() == 1 && step.calls.front().operands.empty() &&
         step.calls.front().split->call.result.shape.rank() == 0 &&
         !step.calls.front().op().random && !has_effect;
}

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
          .is_constant = is_free_constant(step, has_effect),
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
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    StepUse use = use_of(program, s);
    use.begin = static_cast<std::uint32_t>(all_.size());
    add_uses(program.steps[s], all_);
    use.end = static_cast<std::uint32_t>(all_.size());
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
