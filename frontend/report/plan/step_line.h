// A step of the plan on one line.

#pragma once

#include <string>
#include <vector>

#include "ir/support/source.h"
#include "lowering/spmd.h"

namespace mtf {

// A fused step has a line for each value that it makes; the last one names the step.
struct StepLine {
  std::string before;  // "a = exp(x); "
  std::string value;   // "" of an effect
  std::string op;
  std::string why;
  SourceSpan span;  // what asked for it
};

// What asked for a step.
[[nodiscard]] SourceSpan span_of(const SpmdProgram& program, const Step& step);

// One per step.
[[nodiscard]] std::vector<StepLine> step_lines(const SpmdProgram& program,
                                               const SourceMap& sources);

// "products", "all_reduce"; what a step does, as `mtf ops` groups it.
[[nodiscard]] std::string family_of(const Step& step);

}  // namespace mtf
