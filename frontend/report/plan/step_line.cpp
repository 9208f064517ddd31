#include "frontend/report/plan/step_line.h"

#include <algorithm>

#include "frontend/report/plan/pseudo_code.h"

namespace mtf {

SourceSpan span_of(const SpmdProgram& program, const Step& step) {
  if (!step.reasons.empty()) {
    return step.reasons.front().span;
  }
  if (step.kind == StepKind::kKernel) {
    return program.source.at(step.calls.back().origin).span;
  }
  return program.source.at(program.at(step.to).origin).span;
}

std::vector<StepLine> step_lines(const SpmdProgram& program, const SourceMap& sources) {
  std::vector<StepLine> lines(program.steps.size());
  for (const PlanLine& part : plan_lines(program, sources, /*rank=*/0)) {
    if (part.kind == LineKind::kStep) {
      StepLine& line = lines[part.step];
      line.before += line.op.empty() ? "" : line.value + " = " + line.op + "; ";
      line.value = part.name;
      line.op = part.op;
      line.why = part.why;
    }
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    lines[i].span = span_of(program, program.steps[i]);
  }
  return lines;
}

std::string family_of(const Step& step) {
  if (step.kind != StepKind::kKernel) {
    return std::string(to_string(step.kind));
  }
  const std::string_view family = step.calls.front().op().family;
  const bool alike = std::ranges::all_of(
      step.calls, [&](const LocalCall& call) { return call.op().family == family; });
  return alike ? std::string(family) : "element-wise chains";
}

}  // namespace mtf
