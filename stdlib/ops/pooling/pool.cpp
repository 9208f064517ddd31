// pool: the largest or smallest element, the sum or the mean of each window.

#include <algorithm>

#include "ir/builder.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/pooling/pools.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> pool_type(OpCall& call, DiagSink& diags) {
  if (call.args.find("by") == nullptr) {
    call.args.set("by", std::string("max"));
  }
  const std::string by = text_arg(call.args, "by");
  const Accepts what = by == "mean" ? Accepts::kFloats : Accepts::kNumbers;
  return check_operand(call, 0, what, diags) ? pooled_type(call, false, diags) : std::nullopt;
}

// How many elements each window has along a dim.
std::vector<double> counts_along(const WindowAxis& axis) {
  std::vector<double> counts;
  for (std::int64_t p = 0; p < axis.small.size; ++p) {
    double count = 0;
    for (std::int64_t t = 0; t < axis.taps.size; ++t) {
      const std::int64_t at = p * axis.stride + t * axis.dilation - axis.low;
      count += at >= 0 && at < axis.big.size ? 1 : 0;
    }
    counts.push_back(count);
  }
  return counts;
}

// The same along each dim; a scalar where all have as many.
ValueId counts_of(Builder& b, const WindowAxes& axes, DType dtype) {
  double all = 1;
  ValueId product;
  for (const WindowAxis& axis : axes) {
    std::vector<double> counts = counts_along(axis);
    if (std::ranges::all_of(counts, [&](double count) { return count == counts.front(); })) {
      all *= counts.front();
      continue;
    }
    OpArgs args;
    args.set("shape", Shape({axis.small}));
    args.set("data", std::move(counts));
    args.set("dtype", dtype);
    const ValueId along = b.emit("const", {}, std::move(args));
    product = product.valid() ? b.emit("mul", {product, along}) : along;
  }
  const ValueId number = b.scalar(all, dtype);
  return product.valid() && all != 1 ? b.emit("mul", {product, number})
         : product.valid()           ? product
                                     : number;
}

std::optional<ValueId> pool_expand(Builder& b, const OpCall& call,
                                   std::span<const ValueId> operands) {
  const std::string by = text_arg(call.args, "by");
  OpArgs args = call.args;
  args.erase("by");
  const ValueId x = operands[0];
  if (by == "max") {
    return b.emit("max_pool", {x}, std::move(args));
  }
  if (by == "min") {
    return b.emit("neg", {b.emit("max_pool", {b.emit("neg", {x})}, std::move(args))});
  }
  const ValueId sum = b.emit("sum_pool", {x}, std::move(args));
  if (by == "sum") {
    return sum;
  }
  const ValueId mean =
      b.emit("div", {sum, counts_of(b, axes_of(call.args, false), call.result.dtype)});
  return b.ordered(mean, call.result.shape);
}

std::vector<OpParam> params_by() {
  std::vector<OpParam> params = pool_params(pooled_tensor());
  params.push_back({.name = "by",
                    .kind = ParamKind::kText,
                    .required = false,
                    .help = "\"max\", \"min\", \"mean\" of the elements that there are, or \"sum\" "
                            "(\"max\")",
                    .choices = {"max", "min", "mean", "sum"}});
  return params;
}

}  // namespace

const OpDef kPool{.name = "pool",
                  .summary = "the maximum, mean or sum of each window of x",
                  .family = "reductions",
                  .params = params_by(),
                  .shape_rule = kWindowDims,
                  .example = R"(dim h = 4, w = 4, ch = 1
let x = reshape(range([place: 16]) -> [h, w, ch])
print pool(x, window = [h, w], size = 2)
print pool(x -> [ch, h2, w2], window = [h, w], size = 3, stride = 2, padding = "same", by = "max")
print pool(cast(x, f32), window = [h, w], size = [3, 1], stride = 1, padding = "same", by = "mean")
)",
                  .type = pool_type,
                  .expand = pool_expand};

}  // namespace mtf::ops
