#include "lowering/verify/promise.h"

#include <algorithm>
#include <string>
#include <vector>

namespace mtf {
bool is_counted(const SpmdProgram& program, const Step& step, const Expectation& clause,
                bool any_axes) {
  if (!is_collective(step.kind) || (!clause.kind.empty() && to_string(step.kind) != clause.kind)) {
    return false;
  }
  if (!clause.axes || any_axes) {
    return true;
  }
  std::vector<std::string> names;
  for (const AxisId axis : step.axes) {
    names.push_back(program.mesh.axes[axis].name);
  }
  return std::ranges::is_permutation(names, *clause.axes);
}

double measured(const SpmdProgram& program, const Expectation& clause) {
  switch (clause.measure) {
    case Measure::kPeakMemory:
      return static_cast<double>(program.totals.peak_bytes);
    case Measure::kFlops:
      return program.totals.flops;
    case Measure::kParameters:
      return static_cast<double>(program.totals.parameters);
    case Measure::kCalls:
    case Measure::kElements:
    case Measure::kBytes:
      break;
  }
  double sum = 0;
  for (const Step& step : program.steps) {
    if (is_counted(program, step, clause, /*any_axes=*/false)) {
      sum += clause.measure == Measure::kCalls      ? 1
             : clause.measure == Measure::kElements ? static_cast<double>(step.elements)
                                                    : static_cast<double>(step.bytes);
    }
  }
  return sum;
}

}  // namespace mtf
