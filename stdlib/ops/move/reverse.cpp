// reverse: the elements of a dim in the opposite order.

#include "ir/rewrite/autodiff.h"
#include "runtime/kernels/moved.h"
#include "stdlib/ops/move/cut.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> reverse_type(OpCall& call, DiagSink& diags) {
  if (!find_dim(call, 0, dim_arg(call.args, "over").name, diags)) {
    return std::nullopt;
  }
  return call.operands[0];
}

IterationSpace reverse_space(const OpCall& call) {
  const Dim over = *call.operands[0].shape.find(dim_arg(call.args, "over").name);
  return moved_space(call, {.operand = over.name, .result = over.name},
                     {.stride = -1, .offset = over.size - 1});
}

void reverse_grad(GradBuilder& b) {
  b.add_to(0, b.emit("reverse", {b.upstream()}, b.args()));
}

}  // namespace

const OpDef kReverse{.name = "reverse",
                     .summary = "a dim's elements in the opposite order",
                     .family = "indexing",
                     .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
                                {.name = "over", .kind = ParamKind::kDim, .help = "the dim"}},
                     .shape_rule = kSameDims,
                     .example = R"(dim length = 4
assert all(reverse(range(length), over = length) == 3 - range(length))
)",
                     .type = reverse_type,
                     .space = reverse_space,
                     .grad = reverse_grad,
                     .kernel = moved_kernel,
                     .linear = Linear::kEach,
                     .narrow = true};

}  // namespace mtf::ops
