// norm and outer.

#include "ir/builder.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/reduce/reductions.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> outer_type(OpCall& call, DiagSink& diags) {
  for (const Dim& dim : call.operands[1].shape.dims()) {
    if (call.operands[0].shape.has(dim.name)) {
      diags.error(DiagKind::kRepeatedDim, call.span,
                  "`outer` of " + to_string(call.operands[0]) + " and " +
                      to_string(call.operands[1]) + ", which both have " + in_backticks(dim.name) +
                      "; `rename` one, or `*` multiplies along it");
      return std::nullopt;
    }
  }
  return number_elements(call, diags);
}

std::optional<ValueId> outer_expand(Builder& b, const OpCall& /*call*/,
                                    std::span<const ValueId> x) {
  return b.emit("mul", {x[0], x[1]});
}

std::optional<ValueId> norm_expand(Builder& b, const OpCall& call, std::span<const ValueId> x) {
  return root_or_zero(b, b.emit("sum", {b.emit("square", {x[0]})}, to_shape(call.result.shape)));
}

}  // namespace

const OpDef kNorm{.name = "norm",
                  .summary = "the length of vectors: the square root of the sum of the squares",
                  .family = "linear algebra",
                  .params = reduction_params(),
                  .shape_rule = kReducedDims,
                  .example = R"(dim batch = 2, io = 2
assert all(norm(const([batch, io], [[3, 4], [0, 0]]), over = io) == const([batch], [5, 0]))
)",
                  .type = reduced_floats,
                  .expand = norm_expand,
                  .narrowing = Narrowing::kWide};

const OpDef kOuter{.name = "outer",
                   .summary = "the product of each element of a with each of b, which share no dim",
                   .family = "linear algebra",
                   .params = two_operands(),
                   .shape_rule = "the dims of a, then those of b",
                   .example = R"(dim row = 2, col = 3
print outer(const([row], [1, 10]), const([col], [1, 2, 3]))
)",
                   .type = outer_type,
                   .expand = outer_expand};

}  // namespace mtf::ops
