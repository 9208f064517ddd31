#include "runtime/execute/loop_step.h"

#include <cstring>
#include <variant>

#include "lowering/loops/loops.h"
#include "runtime/execute/executor_program.h"

namespace mtf {

std::optional<LoopStep> loop_step(const Step& step) {
  const LocalCall* call = step.calls.empty() ? nullptr : &step.calls.front();
  if (call == nullptr || !call->op().effect) {
    return std::nullopt;
  }
  switch (call->op().primitive) {
    case Primitive::kWhile:
      return LoopStep{.what = Primitive::kWhile, .to = call->operands[0], .from = {}};
    case Primitive::kNext:
      return LoopStep{.what = Primitive::kNext, .to = call->operands[0], .from = call->operands[1]};
    case Primitive::kAgain:
      return LoopStep{.what = Primitive::kAgain, .to = {}, .from = {}};
    default:
      return std::nullopt;
  }
}

void join_loops(const SpmdProgram& program, PreparedProgram& prepared) {
  for (const LoopSteps& loop : loops_of(program)) {
    auto& begin = std::get<LoopStep>(prepared.steps[loop.begin].body);
    begin.other = loop.end;
    std::get<LoopStep>(prepared.steps[loop.end].body).other = loop.begin;
    for (std::size_t s = loop.begin; s < loop.end; ++s) {
      begin.draws = begin.draws || prepared.steps[s].draws;
    }
    prepared.steps[loop.begin].effect = prepared.may_fail;
  }
}

void hand_on(const PreparedProgram& prepared, const LoopStep& step, std::size_t rank) {
  void* to = prepared.at(rank, step.to);
  const void* from = prepared.at(rank, step.from);
  const auto bytes = static_cast<std::size_t>(prepared.program->at(step.to).local.bytes());
  if (to != from && bytes > 0) {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace mtf
