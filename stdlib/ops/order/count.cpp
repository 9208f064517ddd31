// argmin, and how often each number is there.

#include <limits>

#include "ir/builder.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> argmin_type(OpCall& call, DiagSink& diags) {
  const std::optional<Dim> dim = find_dim(call, 0, dim_arg(call.args, "over").name, diags);
  if (!dim || !check_operand(call, 0, Accepts::kNumbers, diags)) {
    return std::nullopt;
  }
  if (dim->size > std::numeric_limits<std::int32_t>::max()) {
    diags.error(DiagKind::kOverflow, call.span,
                "places of `" + dim->name + "`, of size " + std::to_string(dim->size) +
                    ", are beyond the range of i32");
    return std::nullopt;
  }
  return TensorType{.dtype = DType::kI32, .shape = call.operands[0].shape.without(dim->name)};
}

// The least position at which the element is the minimum, or NaN.
std::optional<ValueId> argmin_expand(Builder& b, const OpCall& call,
                                     std::span<const ValueId> operands) {
  const ValueId x = b.emit("stop_gradient", {operands[0]});
  const TensorType type = b.type_of(x);
  const Dim over = *type.shape.find(dim_arg(call.args, "over").name);
  const ValueId least = b.emit("min", {x}, to_shape(call.result.shape));
  ValueId best = b.emit("equal", {x, least});
  if (is_float(type.dtype)) {
    best = b.emit("logical_or", {best, b.emit("isnan", {x})});
  }
  OpArgs count;
  count.set("dim", one_dim(over));
  count.set("dtype", DType::kI32);
  const ValueId beyond = b.scalar(static_cast<double>(over.size), DType::kI32);
  const ValueId chosen = b.emit("where", {best, b.emit("range", {}, count), beyond});
  return b.emit("min", {chosen}, to_shape(call.result.shape));
}

std::optional<TensorType> bincount_type(OpCall& call, DiagSink& diags) {
  const Dim dim = dim_arg(call.args, "dim");
  if (!check_operand(call, 0, Accepts::kIndices, diags)) {
    return std::nullopt;
  }
  if (call.operands[0].shape.has(dim.name)) {
    diags.error(DiagKind::kRepeatedDim, call.span,
                "`bincount` of " + to_string(call.operands[0].shape) + " along " +
                    in_backticks(dim.name) + ", which is a dim of the numbers; `rename` it there");
    return std::nullopt;
  }
  return result_type(call, DType::kI32, Shape({dim}), diags);
}

std::optional<ValueId> bincount_expand(Builder& b, const OpCall& call,
                                       std::span<const ValueId> operands) {
  OpArgs ones = to_shape(b.type_of(operands[0]).shape);
  const ValueId each = b.emit("broadcast", {b.scalar(1, DType::kI32)}, std::move(ones));
  OpArgs args = to_shape(call.result.shape);
  args.set("over", one_dim(dim_arg(call.args, "dim")));
  return b.emit("scatter_add", {each, operands[0]}, std::move(args));
}

}  // namespace

const OpDef kArgmin{
    .name = "argmin",
    .summary =
        "the index of the smallest element along a dim, the first of several; NaN counts as "
        "smallest",
    .family = "reductions",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
               {.name = "over", .kind = ParamKind::kDim, .help = "the dim"}},
    .shape_rule = "the dims of x without `over`, as i32",
    .example = R"(dim batch = 2, io = 3
print argmin(const([batch, io], [[1, 5, 3], [4, 2, 6]]), over = io)
)",
    .type = argmin_type,
    .expand = argmin_expand};

const OpDef kBincount{
    .name = "bincount",
    .summary = "how often each integer from 0 occurs; integers beyond the dim are not counted",
    .family = "order",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "integers"},
               {.name = "dim", .kind = ParamKind::kDim, .help = "the dim of the numbers counted"}},
    .shape_rule = "the dim, as i32",
    .example = R"(dim batch = 6, classes = 4
let labels = const([batch], [2, 0, 3, 2, 2, 9], dtype = i32)
assert all(bincount(labels, classes) == const([classes], [1, 0, 3, 1], dtype = i32))
)",
    .type = bincount_type,
    .expand = bincount_expand};

}  // namespace mtf::ops
