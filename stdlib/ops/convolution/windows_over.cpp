#include "stdlib/ops/convolution/windows_over.h"

#include <algorithm>

#include "ir/support/number.h"
#include "stdlib/ops/rules.h"

namespace mtf {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 31;

// "`h`, `w`"
std::string names_text(const std::vector<Dim>& dims) {
  std::string text;
  for (const Dim& dim : dims) {
    text += (text.empty() ? "" : ", ") + in_backticks(dim.name);
  }
  return text;
}

bool check_range(const OpCall& call, std::string_view name, const std::vector<std::int64_t>& given,
                 std::int64_t least, DiagSink& diags) {
  const auto outside = std::ranges::find_if(
      given, [&](std::int64_t number) { return number < least || number >= kMost; });
  if (outside == given.end()) {
    return true;
  }
  diags.error(DiagKind::kBadIndex, call.span,
              in_backticks(name) + " of " + spelled(call) + " is " + std::to_string(*outside) +
                  "; it is at least " + std::to_string(least) + " and below 2^31");
  return false;
}

Dim& input_dim(WindowAxis& axis, bool up) {
  return up ? axis.small : axis.big;
}

Dim& output_dim(WindowAxis& axis, bool up) {
  return up ? axis.big : axis.small;
}

// "[h 8, new]": sizes as far as they are known.
std::string dims_text(const Shape& shape) {
  std::string text = "[";
  for (const Dim& dim : shape.dims()) {
    text += text.size() > 1 ? ", " : "";
    text += dim.name;
    if (dim.size > 0) {
      text += " ";
      text += std::to_string(dim.size);
    }
  }
  text += "]";
  return text;
}

// As many places around as leave one window for each `stride` indices, the odd one behind.
void pad_same(WindowAxis& axis) {
  const std::int64_t count = (axis.big.size + axis.stride - 1) / axis.stride;
  const std::int64_t around =
      std::max<std::int64_t>(0, (count - 1) * axis.stride + axis.length() - axis.big.size);
  axis.low = around / 2;
  axis.high = around - axis.low;
}

void pad_as(const std::string& word, bool up, WindowAxis& axis) {
  if (up && axis.big.size == 0) {
    axis.big.size = axis.small.size * axis.stride;
  }
  if (word == "same") {
    pad_same(axis);
  }
}

// "windows of 3 indices, 2 apart, with 1 and 1 around"
std::string windows_text(const WindowAxis& axis) {
  std::string text =
      "windows of " + std::to_string(axis.length()) + (axis.length() == 1 ? " index" : " indices");
  if (axis.stride > 1) {
    text += ", " + std::to_string(axis.stride) + " apart";
  }
  return text + ", with " + std::to_string(axis.low) + " and " + std::to_string(axis.high) +
         " around";
}

// Gives windows the sizes that `to` says of their dims, and takes these from `left`; which windows
// it says nothing of.
std::vector<std::size_t> take_said(const Shape& to, bool are_named, bool up, WindowAxes& axes,
                                   std::vector<Dim>& left) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Dim& made = output_dim(axes[i], up);
    const Dim* said = to.find(made.name);
    if (said == nullptr) {
      open.push_back(i);
      continue;
    }
    // The dim's own size is how its name is read, not a size that is asked for.
    const bool is_own = !are_named && *said == input_dim(axes[i], up);
    made.size = is_own ? 0 : said->size;
    std::erase_if(left, [&](const Dim& dim) { return dim.name == made.name; });
  }
  return open;
}

// New dims are those of the windows in order: of `window`, or of x. Where these are two orders,
// either may be meant, and a result of the wrong one would be a transposed one without a word.
bool check_order(const OpCall& call, bool up, WindowAxes axes, const std::vector<std::size_t>& open,
                 const std::vector<Dim>& left, DiagSink& diags) {
  const auto name_of = [up](WindowAxis& axis) { return input_dim(axis, up).name; };
  const auto place_of = [&](WindowAxis& axis) {
    return call.operands[0].shape.index_of(name_of(axis)).value();
  };
  if (std::ranges::is_sorted(open, {}, [&](std::size_t i) { return place_of(axes[i]); })) {
    return true;
  }
  std::ranges::sort(axes, {}, place_of);
  std::vector<std::string> window;
  std::ranges::transform(axes, std::back_inserter(window), name_of);
  diags.error(DiagKind::kBadArgument, call.span,
              "`window` of " + spelled(call) +
                  " names dims in another order than the tensor has them, so it is not clear whose "
                  "windows " +
                  names_text(left) + " are of; name them in its order, `window = [" +
                  joined(window, ", ") + "]`, and so all that has one for each");
  return false;
}

// What is wrong where `windows` find no dim, or dims are `left`.
std::string without_place(const std::vector<Dim>& windows, const std::vector<Dim>& left) {
  const std::string verb = left.size() == 1 ? " is" : " are";
  if (windows.empty()) {
    return ", but " + names_text(left) + verb +
           " in no operand, and the windows have dims of their own";
  }
  return " has no dim for the windows over " + names_text(windows) +
         ", of the same name or a new one" +
         (left.empty() ? "" : "; " + names_text(left) + verb + " new");
}

}  // namespace

std::optional<std::vector<std::int64_t>> ints_for(const OpCall& call, std::string_view name,
                                                  std::size_t count, std::int64_t least,
                                                  std::int64_t otherwise, DiagSink& diags) {
  std::vector<std::int64_t> given = numbers_of(call.args, name).value_or(std::vector{otherwise});
  if (given.size() == 1) {
    given.resize(count, given.front());
  }
  if (given.size() != count) {
    diags.error(DiagKind::kBadArgument, call.span,
                in_backticks(name) + " of " + spelled(call) + " is " +
                    plural(given.size(), "number") + ", for windows over " + plural(count, "dim") +
                    "; it is one number, or one for each of them");
    return std::nullopt;
  }
  return check_range(call, name, given, least, diags) ? std::optional(given) : std::nullopt;
}

namespace {

// Windows are named by the dim of the first operand; what has its place in the result is easily
// taken for it.
std::optional<Dim> find_window(const OpCall& call, const std::string& name, DiagSink& diags) {
  const auto* to = call.args.get<Shape>("to");
  const Shape& shape = call.operands[0].shape;
  if (to == nullptr || !to->has(name) || shape.has(name)) {
    return find_dim(call, 0, name, diags);
  }
  diags.error(DiagKind::kDimMissing, call.span_of(0),
              "`window` of " + spelled(call) + " names " + in_backticks(name) +
                  ", which is not in " + to_string(shape) +
                  "; the dim there that it takes the place of is meant");
  return std::nullopt;
}

}  // namespace

std::optional<WindowAxes> window_axes(const OpCall& call, bool up, DiagSink& diags) {
  const std::vector<Dim> window = *call.args.get<std::vector<Dim>>("window");
  const auto stride = ints_for(call, "stride", window.size(), 1, 1, diags);
  const auto dilation = ints_for(call, "dilation", window.size(), 1, 1, diags);
  if (!stride || !dilation) {
    return std::nullopt;
  }
  if (window.empty()) {
    diags.error(DiagKind::kBadArgument, call.span, spelled(call) + " of windows over no dim");
    return std::nullopt;
  }
  WindowAxes axes;
  for (std::size_t i = 0; i < window.size(); ++i) {
    const std::optional<Dim> dim = find_window(call, window[i].name, diags);
    if (!dim) {
      return std::nullopt;
    }
    if (std::ranges::count(window, window[i].name, &Dim::name) > 1) {
      diags.error(DiagKind::kRepeatedDim, call.span,
                  spelled(call) + " of windows over " + in_backticks(dim->name) + " twice");
      return std::nullopt;
    }
    WindowAxis axis;
    input_dim(axis, up) = *dim;
    axis.stride = (*stride)[i];
    axis.dilation = (*dilation)[i];
    axes.push_back(axis);
  }
  return axes;
}

bool take_taps(const OpCall& call, std::size_t k, WindowAxes& axes, DiagSink& diags) {
  const std::vector<Dim> taps = *call.args.get<std::vector<Dim>>("taps");
  if (taps.size() != axes.size()) {
    diags.error(DiagKind::kBadArgument, call.span,
                "`taps` of " + spelled(call) + " names " + plural(taps.size(), "dim") + " and " +
                    "`window` " + plural(axes.size(), "dim") +
                    "; each dim that windows lie over has one of the kernel");
    return false;
  }
  for (std::size_t i = 0; i < taps.size(); ++i) {
    if (call.operands[0].shape.has(taps[i].name)) {
      diags.error(DiagKind::kBadArgument, call.span,
                  "`taps` of " + spelled(call) + " are the kernel's alone, and " +
                      in_backticks(taps[i].name) + " is also in " +
                      to_string(call.operands[0].shape) + "; `rename` one of the two");
      return false;
    }
    if (std::ranges::count(taps, taps[i].name, &Dim::name) > 1) {
      diags.error(DiagKind::kRepeatedDim, call.span,
                  "`taps` of " + spelled(call) + " names " + in_backticks(taps[i].name) + " twice");
      return false;
    }
    axes[i].taps = taps[i];
    if (k < call.operands.size()) {
      const std::optional<Dim> dim = find_dim(call, k, taps[i].name, diags);
      if (!dim) {
        return false;
      }
      axes[i].taps = *dim;
    }
  }
  return true;
}

bool take_sizes(const OpCall& call, WindowAxes& axes, DiagSink& diags) {
  const auto sizes = ints_for(call, "size", axes.size(), 1, 1, diags);
  for (std::size_t i = 0; sizes && i < axes.size(); ++i) {
    axes[i].taps.size = (*sizes)[i];
  }
  return sizes.has_value();
}

bool take_padding(const OpCall& call, bool up, WindowAxes& axes, DiagSink& diags) {
  if (const auto* word = call.args.get<std::string>("padding")) {
    for (WindowAxis& axis : axes) {
      pad_as(*word, up, axis);
    }
    return true;
  }
  std::vector<std::int64_t> given =
      numbers_of(call.args, "padding").value_or(std::vector<std::int64_t>{0});
  if (!check_range(call, "padding", given, 0, diags)) {
    return false;
  }
  const std::size_t n = axes.size();
  if (given.size() != 1 && given.size() != n && given.size() != 2 * n) {
    diags.error(DiagKind::kBadArgument, call.span,
                "`padding` of " + spelled(call) + " is " + plural(given.size(), "number") +
                    ", for windows over " + plural(n, "dim") +
                    "; it is one number, one for each of them, or [[before, behind], ..]");
    return false;
  }
  const std::size_t per_axis = given.size() / n;  // 0: one for all
  for (std::size_t i = 0; i < n; ++i) {
    axes[i].low = given[per_axis * i];
    axes[i].high = given[per_axis * i + (per_axis == 2 ? 1 : 0)];
  }
  return true;
}

bool count_windows(const OpCall& call, WindowAxes& axes, DiagSink& diags) {
  for (WindowAxis& axis : axes) {
    const std::int64_t count = axis.windows();
    if (count < 1) {
      diags.error(DiagKind::kBadIndex, call.span,
                  spelled(call) + " of " + windows_text(axis) + ", over " +
                      in_backticks(axis.big.name) + ", which has " + std::to_string(axis.big.size) +
                      "; " +
                      plural(axis.length() - axis.big.size - axis.low - axis.high, "element") +
                      " more of `padding` would make room for one");
      return false;
    }
    const bool is_said = axis.small.size > 0 && axis.small != axis.big;
    if (is_said && axis.small.size != count) {
      diags.error(DiagKind::kDimSize, call.span,
                  spelled(call) + " of " + windows_text(axis) + " makes " + std::to_string(count) +
                      " of the " + std::to_string(axis.big.size) + " of " +
                      in_backticks(axis.big.name) + ", but " + in_backticks(axis.small.name) +
                      " is " + std::to_string(axis.small.size));
      return false;
    }
    axis.small.size = count;
  }
  return true;
}

bool place_windows(const OpCall& call, bool up, const std::function<bool(const Dim&)>& is_other,
                   WindowAxes& axes, DiagSink& diags) {
  const auto* to = call.args.get<Shape>("to");
  const auto* at = call.args.get<std::vector<Dim>>("at");
  if (at != nullptr && at->size() != axes.size()) {
    diags.error(DiagKind::kBadArgument, call.span,
                "`at` of " + spelled(call) + " names " + plural(at->size(), "dim") +
                    ", for windows over " + plural(axes.size(), "dim"));
    return false;
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    output_dim(axes[i], up) =
        at == nullptr ? Dim{.name = input_dim(axes[i], up).name, .size = 0} : (*at)[i];
  }
  if (to == nullptr) {
    return true;
  }
  std::vector<Dim> left;  // that nothing else in the call has
  std::ranges::copy_if(to->dims(), std::back_inserter(left), std::not_fn(is_other));
  const std::vector<std::size_t> open = take_said(*to, at != nullptr, up, axes, left);
  if (left.size() == open.size() && (at == nullptr || open.empty())) {
    if (!check_order(call, up, axes, open, left, diags)) {
      return false;
    }
    for (std::size_t i = 0; i < open.size(); ++i) {
      output_dim(axes[open[i]], up) = left[i];
    }
    return true;
  }
  std::vector<Dim> windows;
  std::ranges::transform(open, std::back_inserter(windows),
                         [&](std::size_t i) { return output_dim(axes[i], up); });
  diags.error(DiagKind::kDimMissing, call.span,
              spelled(call) + " to " + dims_text(*to) + without_place(windows, left));
  return false;
}

bool fit_big(const OpCall& call, WindowAxes& axes, DiagSink& diags) {
  for (WindowAxis& axis : axes) {
    const std::int64_t least =
        (axis.small.size - 1) * axis.stride + axis.length() - axis.low - axis.high;
    if (axis.big.size == 0) {
      axis.big.size = least;
    }
    if (axis.big.size >= 1 && axis.big.size < kMost && axis.windows() == axis.small.size) {
      continue;
    }
    std::string problem = spelled(call) + " of " + std::to_string(axis.small.size) + " " +
                          windows_text(axis) + ", cannot give " + in_backticks(axis.big.name) +
                          " the size " + std::to_string(axis.big.size);
    const std::int64_t most = least + axis.stride - 1;
    const std::int64_t first = std::max<std::int64_t>(least, 1);
    if (most >= first) {
      problem += "; it would be " + std::to_string(first);
      problem += most == first ? "" : " to " + std::to_string(most);
    }
    diags.error(DiagKind::kDimSize, call.span, std::move(problem));
    return false;
  }
  return true;
}

}  // namespace mtf
