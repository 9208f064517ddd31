// prod: the product over dims. Of f32 in f64: at a million factors f32 is 1e-4 off, and it makes
// (1e30 * 1e30) * (1e-30 * 1e-30) NaN.

#include "ir/builder.h"
#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/reduce/reductions.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

IterationSpace prod_space(const OpCall& call) {
  return space_by_name(call, DimRole::kReduced, Combine::kProd);
}

// The derivative by one element is the product of the others, without dividing by zero: `others` is
// the product of all elements but zeros, `zeros` that of the zeros (0, or 1 if there is none).
// An element that is not 0 gets others * zeros / x; a zero gets `others` if it is the only one.
void prod_grad(GradBuilder& b) {
  const ValueId x = b.operand(0);
  const DType dtype = b.type_of(x).dtype;
  const Shape whole = b.type_of(x).shape;
  const OpArgs to = to_shape(b.type_of(b.result()).shape);
  const ValueId zero = b.scalar(0);
  const ValueId one = b.scalar(1);
  OpArgs as_number;
  as_number.set("dtype", dtype);

  const ValueId is_zero = b.emit("equal", {x, zero});
  const ValueId safe = b.emit("where", {is_zero, one, x});
  const ValueId others = b.emit("prod", {safe}, to);
  const ValueId zeros = b.emit("prod", {b.emit("where", {is_zero, x, one})}, to);
  const ValueId count = b.emit("sum", {b.emit("cast", {is_zero}, as_number)}, to);
  // Of two zeros each has the other one as a factor: 0, but not its derivative.
  const ValueId of_zeros = b.emit("where", {is_zero, x, zero});
  const ValueId other_zero = b.emit("sub", {b.emit("sum", {of_zeros}, to), of_zeros});
  const ValueId pair = b.emit(
      "where", {b.emit("equal", {count, b.scalar(2)}), b.emit("mul", {others, other_zero}), zero});
  const ValueId single = b.emit("where", {b.emit("equal", {count, one}), others, pair});

  const ValueId at_zero = b.emit("mul", {b.upstream(), single});
  const ValueId elsewhere = b.emit("mul", {b.upstream(), b.emit("mul", {others, zeros})});
  const ValueId quotient = b.emit("div", {b.emit("broadcast", {elsewhere}, to_shape(whole)), safe});
  b.add_to(0, b.emit("where", {is_zero, at_zero, quotient}));
}

std::optional<ValueId> prod_expand(Builder& b, const OpCall& call,
                                   std::span<const ValueId> operands) {
  if (call.operands[0].dtype != DType::kF32) {
    return ValueId{};
  }
  const ValueId wide = b.cast(operands[0], DType::kF64);
  return b.cast(b.emit("prod", {wide}, to_shape(shape_arg(call.args, "to"))), DType::kF32);
}

void prod_kernel(const KernelCall& call) {
  reduce_kernel(call, ReduceKind::kProd);
}

}  // namespace

const OpDef kProd{.name = "prod",
                  .summary = "the product over dims",
                  .family = "reductions",
                  .params = reduction_params(),
                  .shape_rule = kReducedDims,
                  .example = R"(dim batch = 2, io = 3
let x = const([batch, io], [[1, 2, 3], [4, 5, 6]])
print prod(x, over = io), prod(x)
)",
                  .type = reduced_numbers,
                  .expand = prod_expand,
                  .space = prod_space,
                  .grad = prod_grad,
                  .flops = flops_of_operand,
                  .kernel = prod_kernel,
                  .threaded = true,
                  .narrowing = Narrowing::kWide};

}  // namespace mtf::ops
