// close: whether two tensors agree to a tolerance, everywhere.

#include <limits>

#include "ir/builder.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

constexpr double kAbsolute = 1e-6;
constexpr double kRelative = 1e-5;

std::optional<TensorType> close_type(OpCall& call, DiagSink& diags) {
  if (!any_elements(call, diags)) {
    return std::nullopt;
  }
  return TensorType{.dtype = DType::kBool, .shape = Shape()};
}

std::optional<ValueId> close_expand(Builder& b, const OpCall& call,
                                    std::span<const ValueId> operands) {
  const DType dtype = call.operands[0].dtype;
  const ValueId equal = b.emit("equal", {operands[0], operands[1]});
  if (dtype == DType::kBool) {
    return b.emit("all", {equal}, to_shape({}));
  }
  // Whole numbers are compared as f64; infinities only equal themselves.
  OpArgs as_float;
  const DType wide = is_float(dtype) ? dtype : DType::kF64;
  as_float.set("dtype", wide);
  const bool cast = wide != dtype;
  const ValueId x = cast ? b.emit("cast", {operands[0]}, as_float) : operands[0];
  const ValueId y = cast ? b.emit("cast", {operands[1]}, as_float) : operands[1];
  const ValueId distance = b.emit("abs", {b.emit("sub", {x, y})});
  const ValueId relative = b.scalar(real_arg(call.args, "rtol", kRelative), wide);
  const ValueId absolute = b.scalar(real_arg(call.args, "atol", kAbsolute), wide);
  const ValueId size = b.emit("abs", {y});
  const ValueId allowed = b.emit("add", {absolute, b.emit("mul", {relative, size})});
  const ValueId infinity = b.scalar(std::numeric_limits<double>::infinity(), wide);
  const ValueId near = b.emit("logical_and", {b.emit("less_equal", {distance, allowed}),
                                              b.emit("less", {distance, infinity})});
  return b.emit("all", {b.emit("logical_or", {equal, near})}, to_shape({}));
}

}  // namespace

const OpDef kClose{
    .name = "close",
    .summary = "whether abs(a - b) <= atol + rtol * abs(b) for every element",
    .family = "comparisons",
    .params = {{.name = "a", .kind = ParamKind::kTensor, .help = "a tensor"},
               {.name = "b", .kind = ParamKind::kTensor, .help = "the one it is compared with"},
               {.name = "atol", .kind = ParamKind::kReal, .required = false, .help = "(1e-6)"},
               {.name = "rtol", .kind = ParamKind::kReal, .required = false, .help = "(1e-5)"}},
    .shape_rule = "a scalar",
    .example = R"(dim io = 3
let x = const([io], [1, 2, 3])
assert close(x, x + 1e-7)
)",
    .type = close_type,
    .expand = close_expand};

}  // namespace mtf::ops
