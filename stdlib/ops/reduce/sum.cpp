// sum: add a tensor up over dims.

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/index/pick.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/reduce/reductions.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

// Of what was widened for the sum, that: the kernel widens as it reads.
ValueId of_narrow(Builder& b, const OpCall& call, ValueId operand) {
  const Value& value = b.program().at(operand);
  const bool is_cast = value.op != nullptr && value.op->primitive == Primitive::kCast;
  const ValueId source = is_cast ? value.operands.front() : ValueId{};
  const DType before = is_cast ? b.type_of(source).dtype : call.result.dtype;
  if (!is_narrow(before) || wide_of(before) != call.result.dtype) {
    return {};
  }
  OpArgs args = call.args;
  args.set("dtype", call.result.dtype);
  b.look_through(operand);
  return b.emit("sum", {source}, std::move(args));
}

// Of a product with a one_hot, what it picks; a narrow sum is a wide one, rounded. An invalid id:
// the call stands for itself.
std::optional<ValueId> sum_expand(Builder& b, const OpCall& call,
                                  std::span<const ValueId> operands) {
  const DType dtype = call.result.dtype;
  const bool widens = b.type_of(operands[0]).dtype != dtype;
  const std::optional<ValueId> found =
      widens ? picked_wide(b, operands, call.result.shape) : picked(b, operands, call.result.shape);
  if (found) {
    return found;
  }
  if (!is_narrow(dtype)) {
    return of_narrow(b, call, operands[0]);
  }
  OpArgs args = call.args;
  args.set("dtype", wide_of(dtype));
  return b.cast(b.emit("sum", {operands[0]}, std::move(args)), dtype);
}

std::vector<OpParam> sum_params() {
  std::vector<OpParam> params = reduction_params();
  params.push_back(summed_param());
  return params;
}

IterationSpace sum_space(const OpCall& call) {
  return space_by_name(call, DimRole::kReduced, Combine::kSum);
}

// Every term moves the total by as much as itself, so each receives the whole gradient.
void sum_grad(GradBuilder& b) {
  b.add_to(0, b.upstream());
}

void sum_kernel(const KernelCall& call) {
  reduce_kernel(call, ReduceKind::kSum);
}

}  // namespace

const OpDef kSum{.name = "sum",
                 .summary = "the sum over dims, in one order whatever the layout",
                 .family = "reductions",
                 .params = sum_params(),
                 .shape_rule = kReducedDims,
                 .example = R"(dim batch = 2, io = 3
let x = const([batch, io], [[1, 2, 3], [4, 5, 6]])
print sum(x, over = io), sum(x -> [io]), sum(x)
)",
                 .type = reduced_sums,
                 .expand = sum_expand,
                 .space = sum_space,
                 .grad = sum_grad,
                 .flops = flops_of_operand,
                 .kernel = sum_kernel,
                 .threaded = true,
                 .narrow = true,
                 .narrowing = Narrowing::kWide,
                 .algebra = Algebra::kSum};

}  // namespace mtf::ops
