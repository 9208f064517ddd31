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

std::optional<ValueId> variance_expand(Builder& b, const OpCall& call, std::span<const ValueId> x) {
  const Shape to = shape_arg(call.args, "to");
  const std::int64_t terms = terms_of(call, to);
  const DType dtype = call.result.dtype;
  const ValueId total = b.emit("sum", {x[0]}, to_shape(to));
  const ValueId mean = b.emit("div", {total, b.scalar(static_cast<double>(terms), dtype)});
  const ValueId squares = b.emit("square", {b.emit("sub", {x[0], mean})});
  return b.emit("div", {b.emit("sum", {squares}, to_shape(to)),
                        b.scalar(static_cast<double>(terms - correction_of(call)), dtype)});
}

// Where all elements are equal there is no direction, and no gradient.
std::optional<ValueId> std_expand(Builder& b, const OpCall& call, std::span<const ValueId> x) {
  const std::optional<ValueId> variance = variance_expand(b, call, x);
  const ValueId zero = b.scalar(0, call.result.dtype);
  const ValueId none = b.emit("equal", {*variance, zero});
  return b.emit("where", {none, zero, b.emit("sqrt", {*variance})});
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

}  // namespace

const OpDef kVariance{.name = "variance",
                      .summary = "the mean over dims of the squared distances to the mean",
                      .family = "reductions",
                      .params = variance_params(),
                      .shape_rule = kReducedDims,
                      .example = R"(dim io = 4
let x = const([io], [1e6, 1e6, 1e6 + 2, 1e6 + 2])
assert variance(x) == 1 and close(variance(x, correction = 1), 4.0 / 3)
)",
                      .type = variance_type,
                      .expand = variance_expand,
                      .narrowing = Narrowing::kWide};

const OpDef kStd{.name = "std",
                 .summary = "the standard deviation over dims: the root of the variance",
                 .family = "reductions",
                 .params = variance_params(),
                 .shape_rule = kReducedDims,
                 .example = R"(dim batch = 2, io = 4
let x = const([batch, io], [[1, 1, 5, 5], [3, 3, 3, 3]])
assert all(std(x, over = io) == const([batch], [2, 0]))
)",
                 .type = variance_type,
                 .expand = std_expand,
                 .narrowing = Narrowing::kWide};

}  // namespace mtf::ops
