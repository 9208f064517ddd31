// max and min over dims. A NaN wins; equal elements share the gradient equally.

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/reduce/reductions.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

IterationSpace max_space(const OpCall& call) {
  return space_by_name(call, DimRole::kReduced, Combine::kMax);
}

IterationSpace min_space(const OpCall& call) {
  return space_by_name(call, DimRole::kReduced, Combine::kMin);
}

void max_grad(GradBuilder& b) {
  const DType dtype = b.type_of(b.result()).dtype;
  const Shape whole = b.type_of(b.operand(0)).shape;
  const Shape rest = b.type_of(b.result()).shape;
  OpArgs as_number;
  as_number.set("dtype", dtype);
  const ValueId best = b.emit("equal", {b.operand(0), b.result()});
  const ValueId ties = b.emit("sum", {b.emit("cast", {best}, as_number)}, to_shape(rest));
  const ValueId share = b.emit("div", {b.upstream(), ties});
  const ValueId spread = b.emit("broadcast", {share}, to_shape(whole));
  b.add_to(0, b.emit("where", {best, spread, b.scalar(0)}));
}

void max_kernel(const KernelCall& call) {
  reduce_kernel(call, ReduceKind::kMax);
}
void min_kernel(const KernelCall& call) {
  reduce_kernel(call, ReduceKind::kMin);
}

}  // namespace

const OpDef kMax{.name = "max",
                 .summary =
                     "the largest element over dims; NaN if there is one; ties share the "
                     "gradient equally",
                 .family = "reductions",
                 .params = reduction_params(),
                 .shape_rule = kReducedDims,
                 .example = R"(dim batch = 2, io = 3
let x = const([batch, io], [[1, 5, 3], [4, 2, 6]])
print max(x, over = io), max(x)
)",
                 .type = reduced_numbers,
                 .space = max_space,
                 .grad = max_grad,
                 .flops = flops_of_operand,
                 .kernel = max_kernel,
                 .threaded = true,
                 .narrowing = Narrowing::kWide};

const OpDef kMin{.name = "min",
                 .summary =
                     "the smallest element over dims; NaN if there is one; ties share the "
                     "gradient equally",
                 .family = "reductions",
                 .params = reduction_params(),
                 .shape_rule = kReducedDims,
                 .example = R"(dim batch = 2, io = 3
let x = const([batch, io], [[1, 5, 3], [4, 2, 6]])
print min(x, over = io), min(x)
)",
                 .type = reduced_numbers,
                 .space = min_space,
                 .grad = max_grad,
                 .flops = flops_of_operand,
                 .kernel = min_kernel,
                 .threaded = true,
                 .narrowing = Narrowing::kWide};

}  // namespace mtf::ops
