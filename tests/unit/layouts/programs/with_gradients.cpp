#include "ir/builder.h"
#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/generate.h"
#include "tests/unit/layouts/programs/whole.h"

namespace mtf::tests {

Program with_gradients(Program program, bool whole) {
  WholeNumbers wholes;
  (void)wholes.follow(program);
  DiagSink diags;
  const std::vector<ValueId> ends = program.outputs;
  for (const ValueId end : ends) {
    if (!is_float(program.at(end).type.dtype)) {
      continue;
    }
    Program result = program;
    Builder builder(result, op_table(), diags);
    OpArgs all;
    all.set("to", Shape());
    const ValueId total = builder.emit("sum", {end}, all);
    std::vector<ValueId> targets;
    for (std::int32_t i = 0; targets.size() < 3 && i < end.index; ++i) {
      if (is_float(result.values[static_cast<std::size_t>(i)].type.dtype)) {
        targets.push_back({i});
      }
    }
    for (const ValueId gradient : gradients(builder, total, targets)) {
      if (gradient.valid()) {
        result.outputs.push_back(gradient);
      }
    }
    if (!whole || wholes.follow(result)) {
      return result;
    }
  }
  return program;
}

}  // namespace mtf::tests
