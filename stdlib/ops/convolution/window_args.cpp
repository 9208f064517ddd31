// Windows as numbers in the arguments of a call, and in its iteration space.

#include <algorithm>
#include <utility>

#include "stdlib/ops/convolution/windows_over.h"

namespace mtf {

std::optional<std::vector<std::int64_t>> numbers_of(const OpArgs& args, std::string_view name) {
  if (const auto* one = args.get<std::int64_t>(name)) {
    return std::vector{*one};
  }
  if (const auto* many = args.get<std::vector<double>>(name)) {
    std::vector<std::int64_t> numbers;
    for (const double number : *many) {
      numbers.push_back(static_cast<std::int64_t>(number));
    }
    return numbers;
  }
  return std::nullopt;
}

bool is_window_dim(const WindowAxes& axes, std::string_view name) {
  return std::ranges::any_of(axes, [&](const WindowAxis& axis) {
    return axis.big.name == name || axis.small.name == name;
  });
}

namespace {

using Numbers = std::vector<std::int64_t>;

// One number for all axes, where it says as much; nothing where that is what is meant anyway.
void set_numbers(OpArgs& args, std::string_view name, const Numbers& numbers,
                 const Numbers& otherwise) {
  args.erase(name);
  if (numbers == otherwise) {
    return;
  }
  if (std::ranges::count(numbers, numbers.front()) == std::ssize(numbers)) {
    args.set(name, numbers.front());
  } else {
    args.set(name, std::vector<double>(numbers.begin(), numbers.end()));
  }
}

Numbers numbers_for(const OpArgs& args, std::string_view name, const Numbers& otherwise) {
  const std::optional<Numbers> numbers = numbers_of(args, name);
  if (numbers && numbers->size() == otherwise.size()) {
    return *numbers;
  }
  return numbers ? Numbers(otherwise.size(), numbers->front()) : otherwise;
}

}  // namespace

void normalise(OpArgs& args, const WindowAxes& axes, bool up) {
  std::vector<Dim> window;
  std::vector<Dim> at;
  std::vector<Dim> taps;
  Numbers size;
  Numbers stride;
  Numbers dilation;
  Numbers padding;
  bool same_names = true;
  for (const WindowAxis& axis : axes) {
    window.push_back(up ? axis.small : axis.big);
    at.push_back(up ? axis.big : axis.small);
    same_names = same_names && axis.small.name == axis.big.name;
    taps.push_back(axis.taps);
    size.push_back(axis.taps.size);
    stride.push_back(axis.stride);
    dilation.push_back(axis.dilation);
    padding.insert(padding.end(), {axis.low, axis.high});
  }
  const Numbers ones(axes.size(), 1);
  const bool by_size = axes.front().taps.name.empty();
  set_numbers(args, "stride", stride, by_size ? size : ones);
  set_numbers(args, "dilation", dilation, ones);
  set_numbers(args, "padding", padding, Numbers(padding.size(), 0));
  if (by_size) {
    set_numbers(args, "size", size, {});
  } else {
    args.set("taps", std::move(taps));
  }
  args.set("window", std::move(window));
  if (up || !same_names) {  // read backwards, there may be several sizes
    args.set("at", std::move(at));
  } else {
    args.erase("at");
  }
}

WindowAxes axes_of(const OpArgs& args, bool up) {
  const auto& window = *args.get<std::vector<Dim>>("window");
  const auto* at = args.get<std::vector<Dim>>("at");
  const auto* taps = args.get<std::vector<Dim>>("taps");
  const Numbers ones(window.size(), 1);
  const Numbers size = numbers_for(args, "size", ones);
  const Numbers stride = numbers_for(args, "stride", taps == nullptr ? size : ones);
  const Numbers dilation = numbers_for(args, "dilation", ones);
  const Numbers padding = numbers_for(args, "padding", Numbers(2 * window.size(), 0));
  WindowAxes axes;
  for (std::size_t i = 0; i < window.size(); ++i) {
    const Dim other = at == nullptr ? Dim{.name = window[i].name, .size = 0} : (*at)[i];
    WindowAxis axis{.big = up ? other : window[i],
                    .small = up ? window[i] : other,
                    .taps = taps != nullptr ? (*taps)[i] : Dim{.name = "", .size = size[i]},
                    .stride = stride[i],
                    .dilation = dilation[i],
                    .low = padding[2 * i],
                    .high = padding[2 * i + 1]};
    if (at == nullptr) {
      axis.small.size = axis.windows();
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

OpArgs with_result(const OpArgs& args, Shape to) {
  OpArgs same = args;
  same.erase("groups");
  same.set("to", std::move(to));
  return same;
}

OpArgs turned(const OpArgs& args, bool up, Shape to) {
  OpArgs back = with_result(args, std::move(to));
  normalise(back, axes_of(args, up), !up);
  return back;
}

void add_windows(IterationSpace& space, std::size_t operand, const Shape& of,
                 const WindowAxes& axes, bool up) {
  for (const WindowAxis& axis : axes) {
    WindowDim window{.operand = operand,
                     .dim = of.index_of(up ? axis.small.name : axis.big.name).value(),
                     .length = axis.length()};
    if (up) {  // p of p * stride = i + low - t * dilation
      window.offset = axis.low - axis.length() + 1;
      window.up = axis.stride;
    } else {
      window.stride = axis.stride;
      window.offset = -axis.low;
    }
    space.windows.push_back(window);
  }
}

}  // namespace mtf
