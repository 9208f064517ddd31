#include <algorithm>

#include "stdlib/ops/convolution/conv_rules.h"
#include "stdlib/ops/convolution/groups.h"
#include "stdlib/ops/rules.h"

namespace mtf {
namespace {

// The dims of a call: of the operands without those of the windows, and of the result, likewise.
struct OtherDims {
  std::vector<Dim> x;
  std::vector<Dim> k;
};

template <typename F>
std::vector<Dim> dims_without(const Shape& shape, const WindowAxes& axes, F&& dim_of_axis) {
  std::vector<Dim> rest;
  std::ranges::copy_if(shape.dims(), std::back_inserter(rest), [&](const Dim& dim) {
    return std::ranges::none_of(
        axes, [&](const WindowAxis& axis) { return dim_of_axis(axis).name == dim.name; });
  });
  return rest;
}

const Dim* named(const std::vector<Dim>& dims, std::string_view name) {
  const auto found = std::ranges::find(dims, name, &Dim::name);
  return found == dims.end() ? nullptr : &*found;
}

// Those of `dims` that the others lack.
std::vector<Dim> lacked_by(const std::vector<Dim>& others, const std::vector<Dim>& dims) {
  std::vector<Dim> lacked;
  std::ranges::copy_if(dims, std::back_inserter(lacked),
                       [&](const Dim& dim) { return named(others, dim.name) == nullptr; });
  return lacked;
}

bool is_tap(const WindowAxes& axes, const std::string& name) {
  return std::ranges::any_of(axes, [&](const WindowAxis& axis) { return axis.taps.name == name; });
}

// What both have, they have in one size; nothing else is named as a dim of the windows.
bool check_shared(const OpCall& call, const OtherDims& others, const WindowAxes& axes,
                  DiagSink& diags) {
  for (const Dim& dim : others.k) {
    if (is_window_dim(axes, dim.name)) {
      diags.error(DiagKind::kBadArgument, call.span_of(1),
                  in_backticks(dim.name) + " of " + to_string(call.operands[1].shape) +
                      " is a dim that the windows of " + spelled(call) +
                      " lie over; `rename` one of the two");
      return false;
    }
    const Dim* same = named(others.x, dim.name);
    if (same == nullptr || same->size == dim.size) {
      continue;
    }
    std::string hint;
    if (same->size % dim.size == 0) {
      hint = "; `groups = " + std::to_string(same->size / dim.size) + "` would fit";
    }
    diags.error(DiagKind::kDimSize, call.span_of(1),
                spelled(call) + " of " + to_string(call.operands[0].shape) + " with " +
                    to_string(call.operands[1].shape) + ": " + in_backticks(dim.name) + " is " +
                    std::to_string(same->size) + " and " + std::to_string(dim.size) + hint);
    return false;
  }
  return true;
}

// Every dim of one operand is in the other, or in the result.
bool check_all_used(const OpCall& call, const OtherDims& others, const Shape& to, DiagSink& diags) {
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<Dim>& mine = i == 0 ? others.x : others.k;
    const std::vector<Dim>& theirs = i == 0 ? others.k : others.x;
    for (const Dim& dim : mine) {
      if (!to.has(dim.name) && named(theirs, dim.name) == nullptr) {
        diags.error(DiagKind::kDimMissing, call.span_of(i),
                    spelled(call) + " to " + to_string(to) + " lacks " + in_backticks(dim.name) +
                        ", which only " + to_string(call.operands[i].shape) +
                        " has; add it behind `->`, or `sum` over it before");
        return false;
      }
    }
  }
  return true;
}

// The sizes of the dims behind `->` are those of the operands.
bool check_sizes(const OpCall& call, const OtherDims& others, const Shape& to, DiagSink& diags) {
  for (const Dim& dim : to.dims()) {
    const Dim* in_x = named(others.x, dim.name);
    const Dim* in_k = named(others.k, dim.name);
    const Dim* known = in_x != nullptr ? in_x : in_k;
    if (known != nullptr && known->size != dim.size) {
      diags.error(DiagKind::kDimSize, call.span,
                  spelled(call) + " to " + to_string(to) + ", but " + in_backticks(dim.name) +
                      " is " + std::to_string(known->size) + " in " +
                      to_string(call.operands[in_x != nullptr ? 0 : 1].shape));
      return false;
    }
  }
  return true;
}

bool check_result(const OpCall& call, const OtherDims& others, const WindowAxes& axes,
                  const Shape& to, DiagSink& diags) {
  return check_shared(call, others, axes, diags) && check_sizes(call, others, to, diags) &&
         check_all_used(call, others, to, diags);
}

// With all that was left out of the call.
std::optional<TensorType> finished(OpCall& call, const Shape& to, const WindowAxes& axes, bool up,
                                   DiagSink& diags) {
  normalise(call.args, axes, up);
  call.args.set("to", to);
  return result_type(call, call.operands[0].dtype, to, diags);
}

// The dims with an index for each window are no others.
bool check_apart(const OpCall& call, const OtherDims& others, const WindowAxes& axes, bool up,
                 DiagSink& diags) {
  for (const WindowAxis& axis : axes) {
    const std::string& name = (up ? axis.big : axis.small).name;
    const bool is_of_taps = is_tap(axes, name);
    if (is_of_taps || named(others.x, name) != nullptr || named(others.k, name) != nullptr) {
      diags.error(
          DiagKind::kRepeatedDim, call.span,
          spelled(call) + " gives the windows over " +
              in_backticks((up ? axis.small : axis.big).name) + " the dim " + in_backticks(name) +
              ", which is also one of " +
              to_string(
                  call.operands[is_of_taps || named(others.x, name) == nullptr ? 1 : 0].shape) +
              "; `rename` one of the two");
      return false;
    }
  }
  return true;
}

// What the windows make of a dim that they lie over, or of one that has an index for each of them;
// null: of neither.
const Dim* made_by_windows(const WindowAxes& axes, const Dim& dim, Dim WindowAxis::*role,
                           Dim WindowAxis::*made) {
  const auto axis = std::ranges::find_if(
      axes, [&](const WindowAxis& other) { return (other.*role).name == dim.name; });
  return axis == axes.end() ? nullptr : &((*axis).*made);
}

// The dims behind `->` with the sizes that the windows give. A name may be there twice.
std::vector<Dim> given_dims(const Shape& to, const WindowAxes& axes, bool up) {
  Dim WindowAxis::*const made = up ? &WindowAxis::big : &WindowAxis::small;
  std::vector<Dim> dims;
  for (const Dim& dim : to.dims()) {
    const Dim* by_windows = made_by_windows(axes, dim, made, made);
    dims.push_back(by_windows == nullptr ? dim : *by_windows);
  }
  return dims;
}

// Without `->`: those of the first operand, and the kernel's own in place of what is summed, or
// behind them.
std::vector<Dim> plain_dims(const Shape& x, const OtherDims& others, const WindowAxes& axes,
                            bool up) {
  std::vector<Dim> of_kernel = lacked_by(others.x, others.k);
  std::vector<Dim> dims;
  const auto add_kernel = [&] {
    dims.insert(dims.end(), of_kernel.begin(), of_kernel.end());
    of_kernel.clear();
  };
  for (const Dim& dim : x.dims()) {
    const Dim* by_windows = made_by_windows(axes, dim, up ? &WindowAxis::small : &WindowAxis::big,
                                            up ? &WindowAxis::big : &WindowAxis::small);
    if (by_windows != nullptr) {
      dims.push_back(*by_windows);
    } else if (named(others.k, dim.name) != nullptr) {
      add_kernel();
    } else {
      dims.push_back(dim);
    }
  }
  add_kernel();
  return dims;
}

// Where they lie, and how many.
bool lay_windows(OpCall& call, bool up, const OtherDims& others, WindowAxes& axes,
                 DiagSink& diags) {
  const auto is_other = [&](const Dim& dim) {
    return named(others.x, dim.name) != nullptr || named(others.k, dim.name) != nullptr;
  };
  return place_windows(call, up, is_other, axes, diags) && take_padding(call, up, axes, diags) &&
         (up ? fit_big(call, axes, diags) : count_windows(call, axes, diags));
}

// conv and, if `up`, conv_transpose.
std::optional<TensorType> product_type(OpCall& call, bool up, DiagSink& diags) {
  if (!check_operands(call, Accepts::kNumbers, diags) || !check_same_dtype(call, 0, diags)) {
    return std::nullopt;
  }
  std::optional<WindowAxes> axes = window_axes(call, up, diags);
  if (!axes || !take_taps(call, 1, *axes, diags)) {
    return std::nullopt;
  }
  OtherDims others{
      .x = dims_without(call.operands[0].shape, *axes,
                        [up](const WindowAxis& axis) { return up ? axis.small : axis.big; }),
      .k = dims_without(call.operands[1].shape, *axes,
                        [](const WindowAxis& axis) { return axis.taps; })};
  if (!fit_groups(call, others.x, others.k, diags)) {
    return std::nullopt;
  }
  if (!lay_windows(call, up, others, *axes, diags)) {
    return std::nullopt;
  }
  const auto* given = call.args.get<Shape>("to");
  std::vector<Dim> dims = given == nullptr ? plain_dims(call.operands[0].shape, others, *axes, up)
                                           : given_dims(*given, *axes, up);
  if (!check_apart(call, others, *axes, up, diags) || !check_distinct(call, dims, diags)) {
    return std::nullopt;
  }
  const Shape to(std::move(dims));
  return check_result(call, others, *axes, to, diags) ? finished(call, to, *axes, up, diags)
                                                      : std::nullopt;
}

// The dims of the second operand that have an index for each window: those that "at" names, or of
// the same names.
bool find_windows(const OpCall& call, WindowAxes& axes, DiagSink& diags) {
  const auto* at = call.args.get<std::vector<Dim>>("at");
  if (at != nullptr && at->size() != axes.size()) {
    diags.error(DiagKind::kBadArgument, call.span,
                "`at` of " + spelled(call) + " names as many dims of its second operand as " +
                    "`window` of its first");
    return false;
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string name = at == nullptr ? axes[i].big.name : (*at)[i].name;
    const std::optional<Dim> dim = find_dim(call, 1, name, diags);
    if (!dim) {
      return false;
    }
    axes[i].small = *dim;
  }
  return true;
}

// As many windows as the second operand has an index for.
bool check_counts(const OpCall& call, const WindowAxes& axes, DiagSink& diags) {
  for (const WindowAxis& axis : axes) {
    if (axis.windows() != axis.small.size || axis.small.size == 0) {
      diags.error(DiagKind::kDimSize, call.span,
                  spelled(call) + " of windows of " + std::to_string(axis.length()) + " over the " +
                      std::to_string(axis.big.size) + " of " + in_backticks(axis.big.name) +
                      ": there are " + std::to_string(axis.windows()) + ", and " +
                      in_backticks(axis.small.name) + " of the second operand is " +
                      std::to_string(axis.small.size));
      return false;
    }
  }
  return true;
}

// Those of a kernel where nothing says them: its taps, and what only one operand has.
std::vector<Dim> kernel_dims(const OtherDims& others, const WindowAxes& axes) {
  std::vector<Dim> dims;
  std::ranges::transform(axes, std::back_inserter(dims), &WindowAxis::taps);
  std::ranges::copy(lacked_by(others.k, others.x), std::back_inserter(dims));
  std::ranges::copy(lacked_by(others.x, others.k), std::back_inserter(dims));
  return dims;
}

bool check_taps(const OpCall& call, const WindowAxes& axes, const Shape& to, DiagSink& diags) {
  for (const WindowAxis& axis : axes) {
    const Dim* taps = to.find(axis.taps.name);
    if (taps == nullptr || taps->size != axis.taps.size) {
      diags.error(DiagKind::kDimMissing, call.span,
                  spelled(call) + " to " + to_string(to) + ", which lacks " +
                      in_backticks(axis.taps.name) + " of " + std::to_string(axis.taps.size) +
                      ", of its `taps`");
      return false;
    }
  }
  return true;
}

// Every dim behind `->` is a tap, or of an operand.
bool check_known(const OpCall& call, const OtherDims& others, const WindowAxes& axes,
                 const Shape& to, DiagSink& diags) {
  for (const Dim& dim : to.dims()) {
    if (!is_tap(axes, dim.name) && named(others.x, dim.name) == nullptr &&
        named(others.k, dim.name) == nullptr) {
      diags.error(DiagKind::kDimMissing, call.span,
                  spelled(call) + " to " + to_string(to) + ", but " + in_backticks(dim.name) +
                      " is in no operand");
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<TensorType> conv_type(OpCall& call, DiagSink& diags) {
  return product_type(call, false, diags);
}

std::optional<TensorType> conv_transpose_type(OpCall& call, DiagSink& diags) {
  return product_type(call, true, diags);
}

std::optional<TensorType> conv_kernel_type(OpCall& call, DiagSink& diags) {
  if (!check_operands(call, Accepts::kNumbers, diags) || !check_same_dtype(call, 0, diags)) {
    return std::nullopt;
  }
  std::optional<WindowAxes> axes = window_axes(call, false, diags);
  if (!axes || !take_taps(call, 2, *axes, diags) || !find_windows(call, *axes, diags) ||
      !take_padding(call, false, *axes, diags)) {
    return std::nullopt;
  }
  const OtherDims others{.x = dims_without(call.operands[0].shape, *axes,
                                           [](const WindowAxis& axis) { return axis.big; }),
                         .k = dims_without(call.operands[1].shape, *axes,
                                           [](const WindowAxis& axis) { return axis.small; })};
  if (!check_counts(call, *axes, diags)) {
    return std::nullopt;
  }
  if (call.args.find("to") == nullptr) {
    std::vector<Dim> dims = kernel_dims(others, *axes);
    if (!check_distinct(call, dims, diags)) {
      return std::nullopt;
    }
    call.args.set("to", Shape(std::move(dims)));
  }
  const Shape to = shape_arg(call.args, "to");
  const bool fits = check_taps(call, *axes, to, diags) &&
                    check_known(call, others, *axes, to, diags) &&
                    check_apart(call, others, *axes, false, diags) &&
                    check_result(call, others, *axes, to, diags);
  return fits ? finished(call, to, *axes, false, diags) : std::nullopt;
}

}  // namespace mtf
