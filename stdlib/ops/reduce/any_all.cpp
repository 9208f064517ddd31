// any and all: the maximum and the minimum of bools over dims.

#include "stdlib/ops/ops.h"
#include "stdlib/ops/reduce/reductions.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

IterationSpace any_space(const OpCall& call) {
  return space_by_name(call, DimRole::kReduced, Combine::kMax);
}

IterationSpace all_space(const OpCall& call) {
  return space_by_name(call, DimRole::kReduced, Combine::kMin);
}

void any_kernel(const KernelCall& call) {
  reduce_kernel(call, ReduceKind::kMax);
}
void all_kernel(const KernelCall& call) {
  reduce_kernel(call, ReduceKind::kMin);
}

}  // namespace

const OpDef kAny{.name = "any",
                 .summary = "whether at least one element over the dims is true",
                 .family = "reductions",
                 .params = reduction_params(),
                 .shape_rule = kReducedDims,
                 .example = "dim length = 4\nprint any(range(length) > 2)\n",
                 .type = reduced_bools,
                 .space = any_space,
                 .flops = flops_of_operand,
                 .kernel = any_kernel,
                 .threaded = true,
                 .primitive = Primitive::kAny};

const OpDef kAll{.name = "all",
                 .summary = "whether every element over the dims is true",
                 .family = "reductions",
                 .params = reduction_params(),
                 .shape_rule = kReducedDims,
                 .example = "dim length = 4\nprint all(range(length) >= 0)\n",
                 .type = reduced_bools,
                 .space = all_space,
                 .flops = flops_of_operand,
                 .kernel = all_kernel,
                 .threaded = true};

}  // namespace mtf::ops
