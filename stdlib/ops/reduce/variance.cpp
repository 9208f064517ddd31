// variance and std, from the distances to the mean: the difference of two large sums would lose
// the digits that count.

#include "ir/builder.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/reduce/reductions.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::int64_t terms_of(const OpCall& call, const Shape& to) {
  return call.operands[0].shape.volume() / to.volume();
}

std::int64_t correction_of(const OpCall& call) {
  const auto* correction = call.args.get<std::int64_t>("correction");
  return correction == nullptr ? 0 : *correction;
}

std::optional<TensorType> variance_type(OpCall& call, DiagSink& diags) {
  std::optional<TensorType> result = reduced_floats(call, diags);
  if (!result) {
    return std::nullopt;
  }
  const std::int64_t terms = terms_of(call, shape_arg(call.args, "to"));
  if (const std::int64_t correction = correction_of(call); correction < 0 || correction >= terms) {
    diags.error(DiagKind::kBadArgument, call.span,
                "`" + std::string(call.op->name) + "` of " + std::to_string(terms) +
                    " elements, of which `correction = " + std::to_string(correction) +
                    "` are not counted; it is from 0 to " + std::to_string(terms - 1));
    return std::nullopt;
  }
  return result;
}

// Nothing flows through the mean, as the distances to it add up to 0: what rounding would make of
// their sum is no part of the gradient, and costs another sum over the dims. The gradient is made
// of the distances themselves, so that gradients of it are right as well.
OwnGradient spread_gradient(Builder& b, ValueId result, ValueId x, ValueId distances,
                            double counted) {
  const auto rule = [&b, distances, counted](std::span<const ValueId> upstream) {
    const ValueId factor = b.scalar(2 / counted, b.type_of(upstream[0]).dtype);
    const ValueId each = b.emit("mul", {upstream[0], factor});
    return std::vector{b.emit("mul", {b.latest(distances), each})};
  };
  return {.results = {result}, .by = {x}, .rule = rule};
}

ValueId variance_of(Builder& b, const OpCall& call, ValueId x) {
  const Shape to = shape_arg(call.args, "to");
  const ValueId mean = b.emit("mean", {x}, to_shape(to));
  const ValueId distances = b.emit("sub", {x, mean});
  const auto counted = static_cast<double>(terms_of(call, to) - correction_of(call));
  const ValueId result =
      b.emit("div", {b.emit("sum", {b.emit("square", {distances})}, to_shape(to)),
                     b.scalar(counted, call.result.dtype)});
  b.add(spread_gradient(b, result, x, distances, counted));
  return result;
}

std::optional<ValueId> variance_expand(Builder& b, const OpCall& call, std::span<const ValueId> x) {
  return variance_of(b, call, x[0]);
}

std::optional<ValueId> std_expand(Builder& b, const OpCall& call, std::span<const ValueId> x) {
  return root_or_zero(b, variance_of(b, call, x[0]));
}

std::vector<OpParam> variance_params() {
  std::vector<OpParam> params = reduction_params();
  params.push_back({.name = "correction",
                    .kind = ParamKind::kInt,
                    .required = false,
                    .help = "how many fewer than there are elements the squares are divided by; 1 "
                            "makes up for a mean that is itself estimated (0)"});
  return params;
}

OpDef spread(OpDef def) {
  def.family = "reductions";
  def.params = variance_params();
  def.shape_rule = kReducedDims;
  def.type = variance_type;
  def.narrowing = Narrowing::kWide;
  return def;
}

}  // namespace

const OpDef kVariance =
    spread({.name = "variance",
            .summary = "the mean over dims of the squared distances to the mean",
            .example = R"(dim io = 4
let x = const([io], [1e6, 1e6, 1e6 + 2, 1e6 + 2])
assert variance(x) == 1 and close(variance(x, correction = 1), 4.0 / 3)
)",
            .expand = variance_expand});

const OpDef kStd = spread({.name = "std",
                           .summary = "the standard deviation over dims: the root of the variance",
                           .example = R"(dim batch = 2, io = 4
let x = const([batch, io], [[1, 1, 5, 5], [3, 3, 3, 3]])
assert all(std(x, over = io) == const([batch], [2, 0]))
)",
                           .expand = std_expand});

}  // namespace mtf::ops
