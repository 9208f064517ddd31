// logsumexp, softmax and log_softmax: the maximum is taken off first, so nothing overflows.
//
// A slice that is -inf throughout has logsumexp -inf and softmax NaN, as in PyTorch.

#include <limits>

#include "ir/builder.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/reduce/reductions.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> along_type(OpCall& call, DiagSink& diags) {
  if (!check_operand(call, 0, Accepts::kFloats, diags) || !shape_without(call, diags)) {
    return std::nullopt;
  }
  return call.operands[0];
}

Shape rest_of(const OpCall& call) {
  Shape rest = call.operands[0].shape;
  const auto* over = call.args.get<std::vector<Dim>>("over");
  if (over == nullptr) {
    return {};
  }
  for (const Dim& dim : *over) {
    rest = rest.without(dim.name);
  }
  return rest;
}

// The maximum over the other dims, or 0 where it is not finite; no gradient passes it, because the
// functions below do not change when their operand is shifted.
ValueId finite_maximum(Builder& b, ValueId x, const Shape& rest) {
  const DType dtype = b.type_of(x).dtype;
  const ValueId max = b.emit("stop_gradient", {b.emit("max", {x}, to_shape(rest))});
  const ValueId infinity = b.scalar(std::numeric_limits<double>::infinity(), dtype);
  const ValueId finite = b.emit("less", {b.emit("abs", {max}), infinity});
  return b.emit("where", {finite, max, b.scalar(0, dtype)});
}

std::optional<ValueId> expand_logsumexp(Builder& b, const OpCall& call,
                                        std::span<const ValueId> operands) {
  const Shape to = shape_arg(call.args, "to");
  const ValueId max = finite_maximum(b, operands[0], to);
  const ValueId powers = b.emit("exp", {b.emit("sub", {operands[0], max})});
  const ValueId log = b.emit("log", {b.emit("sum", {powers}, to_shape(to))});
  return b.emit("add", {log, max});
}

std::optional<ValueId> expand_softmax(Builder& b, const OpCall& call,
                                      std::span<const ValueId> operands) {
  const Shape rest = rest_of(call);
  const ValueId max = b.emit("stop_gradient", {b.emit("max", {operands[0]}, to_shape(rest))});
  const ValueId powers = b.emit("exp", {b.emit("sub", {operands[0], max})});
  return b.emit("div", {powers, b.emit("sum", {powers}, to_shape(rest))});
}

std::optional<ValueId> expand_log_softmax(Builder& b, const OpCall& call,
                                          std::span<const ValueId> operands) {
  const Shape rest = rest_of(call);
  const ValueId max = b.emit("stop_gradient", {b.emit("max", {operands[0]}, to_shape(rest))});
  const ValueId shifted = b.emit("sub", {operands[0], max});
  const ValueId total = b.emit("sum", {b.emit("exp", {shifted})}, to_shape(rest));
  return b.emit("sub", {shifted, b.emit("log", {total})});
}

std::vector<OpParam> along_params() {
  return {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
          {.name = "over",
           .kind = ParamKind::kDims,
           .required = false,
           .help = "the dim or dims along which results add up to 1 (all)"}};
}

}  // namespace

const OpDef kLogSumExp{.name = "logsumexp",
                       .summary = "log(sum(exp(x))) over dims, without overflow",
                       .family = "reductions",
                       .params = reduction_params(),
                       .shape_rule = kReducedDims,
                       .example = R"(dim classes = 3
print logsumexp(const([classes], [1000, 1000, 0]), over = classes)
)",
                       .type = reduced_floats,
                       .expand = expand_logsumexp,
                       .narrowing = Narrowing::kWide};

const OpDef kSoftmax{.name = "softmax",
                     .summary = "exp(x) / sum(exp(x)) over dims, without overflow",
                     .family = "reductions",
                     .params = along_params(),
                     .shape_rule = kSameDims,
                     .example = R"(dim classes = 3
print softmax(const([classes], [1, 2, 3]), over = classes)
)",
                     .type = along_type,
                     .expand = expand_softmax,
                     .narrowing = Narrowing::kWide};

const OpDef kLogSoftmax{.name = "log_softmax",
                        .summary = "the logarithm of softmax, without overflow",
                        .family = "reductions",
                        .params = along_params(),
                        .shape_rule = kSameDims,
                        .example = R"(dim classes = 3
print log_softmax(const([classes], [1, 2, 3]), over = classes)
)",
                        .type = along_type,
                        .expand = expand_log_softmax,
                        .narrowing = Narrowing::kWide};

}  // namespace mtf::ops
