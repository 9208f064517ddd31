// mean: the sum over dims divided by how many elements went into it.

#include "ir/builder.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/reduce/reductions.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<ValueId> mean_expand(Builder& b, const OpCall& call,
                                   std::span<const ValueId> operands) {
  const Shape to = shape_arg(call.args, "to");
  const double terms =
      static_cast<double>(call.operands[0].shape.volume()) / static_cast<double>(to.volume());
  const ValueId total = b.emit("sum", {operands[0]}, to_shape(to));
  return b.emit("div", {total, b.scalar(terms, call.result.dtype)});
}

}  // namespace

const OpDef kMean{.name = "mean",
                  .summary = "the average over dims",
                  .family = "reductions",
                  .params = reduction_params(),
                  .shape_rule = kReducedDims,
                  .example = R"(dim batch = 2, io = 3
let x = const([batch, io], [[1, 2, 3], [4, 5, 6]])
print mean(x, over = io), mean(x)
)",
                  .type = reduced_floats,
                  .expand = mean_expand,
                  .narrowing = Narrowing::kWide};

}  // namespace mtf::ops
