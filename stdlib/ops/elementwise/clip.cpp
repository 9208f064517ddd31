// clip: numbers held between two bounds, which may be tensors.

#include <algorithm>

#include "ir/builder.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<ValueId> clip_expand(Builder& b, const OpCall& /*call*/,
                                   std::span<const ValueId> operands) {
  return b.emit("minimum", {b.emit("maximum", {operands[0], operands[1]}), operands[2]});
}

double clip_host(std::span<const double> x) {
  return std::min(std::max(x[0], x[1]), x[2]);
}

}  // namespace

const OpDef kClip{.name = "clip",
                  .summary =
                      "x clamped to two bounds; NaN stays; an x at a bound shares the gradient "
                      "with it",
                  .family = "element-wise functions",
                  .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
                             {.name = "low", .kind = ParamKind::kTensor, .help = "the lower bound"},
                             {.name = "high",
                              .kind = ParamKind::kTensor,
                              .help = "the upper bound, which wins over the lower one"}},
                  .shape_rule = kUnionOfDims,
                  .example = R"(dim io = 4
let x = const([io], [-9, 0.5, 1, 3])
assert all(clip(x, -1, 1) == const([io], [-1, 0.5, 1, 1]))
assert all(grad(sum(clip(x, -1, 1)), x) == const([io], [0, 1, 0.5, 0]))
)",
                  .type = number_elements,
                  .expand = clip_expand,
                  .host = clip_host};

}  // namespace mtf::ops
