#include "stdlib/ops/pooling/pools.h"

#include <algorithm>

#include "stdlib/ops/rules.h"

namespace mtf {
namespace {

// The dims of operand 0 with those of the windows renamed and resized; behind `->` in any order.
std::optional<Shape> pooled_shape(const OpCall& call, const WindowAxes& axes, bool up,
                                  DiagSink& diags) {
  std::vector<Dim> dims;
  for (const Dim& dim : call.operands[0].shape.dims()) {
    const auto axis = std::ranges::find_if(
        axes, [&](const WindowAxis& one) { return read_dim(one, up).name == dim.name; });
    dims.push_back(axis == axes.end() ? dim : made_dim(*axis, up));
  }
  if (!check_distinct(call, dims, diags)) {
    return std::nullopt;
  }
  const auto* to = call.args.get<Shape>("to");
  if (to == nullptr) {
    return Shape(std::move(dims));
  }
  const Shape pooled(dims);
  std::vector<Dim> order;
  for (const Dim& dim : to->dims()) {
    const Dim* known = pooled.find(dim.name);
    const bool is_made = std::ranges::any_of(
        axes, [&](const WindowAxis& one) { return made_dim(one, up).name == dim.name; });
    if (known != nullptr && (is_made || *known == dim)) {
      order.push_back(*known);
    }
  }
  if (order.size() == to->rank() && order.size() == dims.size()) {
    return Shape(std::move(order));
  }
  diags.error(DiagKind::kDimMissing, call.span,
              spelled(call) + " of " + to_string(call.operands[0].shape) + " has the dims " +
                  to_string(pooled) + ", and not " + to_string(*to));
  return std::nullopt;
}

}  // namespace

std::optional<TensorType> pooled_type(OpCall& call, bool up, DiagSink& diags) {
  std::optional<WindowAxes> axes = window_axes(call, up, diags);
  if (!axes || !take_sizes(call, *axes, diags)) {
    return std::nullopt;
  }
  if (call.args.find("stride") == nullptr) {  // windows side by side
    for (WindowAxis& axis : *axes) {
      axis.stride = axis.taps.size;
    }
  }
  const Shape& x = call.operands[0].shape;
  const auto is_other = [&](const Dim& dim) {
    return x.has(dim.name) && std::ranges::none_of(*axes, [&](const WindowAxis& axis) {
             return read_dim(axis, up).name == dim.name;
           });
  };
  if (!place_windows(call, up, is_other, *axes, diags) || !take_padding(call, up, *axes, diags) ||
      !(up ? fit_big(call, *axes, diags) : count_windows(call, *axes, diags))) {
    return std::nullopt;
  }
  const std::optional<Shape> shape = pooled_shape(call, *axes, up, diags);
  if (!shape) {
    return std::nullopt;
  }
  normalise(call.args, *axes, up);
  call.args.set("to", *shape);
  return result_type(call, call.operands[0].dtype, *shape, diags);
}

std::vector<OpParam> pool_params(OpParam x) {
  std::vector<OpParam> params = {
      std::move(x),
      {.name = "to",
       .kind = ParamKind::kNewShape,
       .required = false,
       .help = "the result's dims (those of x, in its order)"},
      {.name = "window",
       .kind = ParamKind::kDims,
       .help = "the dims of x that the windows lie over"},
      {.name = "size", .kind = ParamKind::kInts, .help = "the windows' size, or one for each dim"},
      {.name = "stride",
       .kind = ParamKind::kInts,
       .required = false,
       .help = "the distance between windows, or one for each dim (the windows' size)"},
      {.name = "padding",
       .kind = ParamKind::kInts,
       .required = false,
       .help = "places around, which hold nothing: \"same\" for a result of x's size over the "
               "stride, \"valid\" for none, a number, one for each dim, or [[before, behind], ..] "
               "(0)",
       .choices = {"same", "valid"}},
      {.name = "dilation",
       .kind = ParamKind::kInts,
       .required = false,
       .help = "the distance between a window's elements, or one for each dim (1)"},
      {.name = "at",
       .kind = ParamKind::kDims,
       .required = false,
       .help = "the result's dims for the windows, where names do not say it"}};
  return params;
}

OpParam pooled_tensor() {
  return {.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"};
}

}  // namespace mtf
