// reverse: the elements of a dim in the opposite order.

#include "ir/rewrite/autodiff.h"
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

CutDim reversed_dim(const OpCall& call) {
  const std::string over = dim_arg(call.args, "over").name;
  return {.operand = over, .result = over};
}

IterationSpace reverse_space(const OpCall& call) {
  return cut_space(call, reversed_dim(call), DimRole::kWhole);
}

// The operand's dim is whole; of the result's this rank has a part.
void reverse_kernel(const KernelCall& call) {
  const CutDim cut = reversed_dim(call.call);
  const Extent want = extent_of(call.out, cut.result);
  const std::int64_t last = extent_of(call.in[0], cut.operand).extent - 1;
  for (std::int64_t i = 0; i < want.extent; ++i) {
    copy_cut(call.in[0], call.out, cut, {.begin = last - (want.offset + i), .at = i, .count = 1});
  }
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
                     .kernel = reverse_kernel,
                     .linear = Linear::kEach};

}  // namespace mtf::ops
