// Which loops a convolution runs over, and how many products it takes.

#include <algorithm>

#include "stdlib/ops/convolution/conv_plan.h"
#include "stdlib/ops/convolution/conv_rules.h"

namespace mtf {
namespace {

class SpaceMaker {
 public:
  explicit SpaceMaker(const OpCall& call) : call_(call) {
    for (const Dim& dim : call.result.shape.dims()) {
      space_.result.push_back({loop(dim, DimRole::kKept)});
    }
  }

  // The loop of that name; one that the result lacks has the role.
  std::size_t loop(const Dim& dim, DimRole role) {
    const auto found = std::ranges::find(space_.loops, dim.name, &LoopDim::name);
    if (found != space_.loops.end()) {
      return static_cast<std::size_t>(found - space_.loops.begin());
    }
    space_.loops.push_back({.name = dim.name, .size = dim.size, .role = role});
    return space_.loops.size() - 1;
  }

  void whole(const Dim& dim) { space_.loops[loop(dim, DimRole::kWhole)].role = DimRole::kWhole; }

  // The dims of an operand, some of which stand for others.
  template <typename F>
  void operand(std::size_t i, F&& stands_for) {
    DimMap& map = space_.operands.emplace_back();
    for (const Dim& dim : call_.operands[i].shape.dims()) {
      map.push_back({loop(stands_for(dim), DimRole::kReduced)});
    }
  }

  IterationSpace& space() { return space_; }

 private:
  const OpCall& call_;
  IterationSpace space_;
};

// A window's dim runs over the result's; behind it come its taps, which a kernel has whole.
IterationSpace product_space(const OpCall& call, bool up) {
  const WindowAxes axes = axes_of(call.args, up);
  SpaceMaker maker(call);
  maker.operand(0, [&](const Dim& dim) {
    for (const WindowAxis& axis : axes) {
      if ((up ? axis.small : axis.big).name == dim.name) {
        maker.whole(axis.taps);
        return up ? axis.big : axis.small;
      }
    }
    return dim;
  });
  maker.operand(1, [](const Dim& dim) { return dim; });
  add_windows(maker.space(), 0, call.operands[0].shape, axes, up);
  plan_for_winograd(call, up, maker.space());
  return std::move(maker.space());
}

}  // namespace

IterationSpace conv_space(const OpCall& call) {
  return product_space(call, false);
}

IterationSpace conv_transpose_space(const OpCall& call) {
  return product_space(call, true);
}

IterationSpace conv_kernel_space(const OpCall& call) {
  const WindowAxes axes = axes_of(call.args, false);
  SpaceMaker maker(call);
  for (const WindowAxis& axis : axes) {
    maker.whole(axis.taps);
  }
  maker.operand(0, [&](const Dim& dim) {
    const auto axis =
        std::ranges::find_if(axes, [&](const WindowAxis& one) { return one.big.name == dim.name; });
    return axis == axes.end() ? dim : axis->small;
  });
  maker.operand(1, [](const Dim& dim) { return dim; });
  add_windows(maker.space(), 0, call.operands[0].shape, axes, false);
  plan_for_winograd_gradient(call, maker.space());
  return std::move(maker.space());
}

// A multiply and an add for each element of the result, and what is summed for it.
double product_flops(const OpCall& call) {
  auto products = static_cast<double>(call.operands[1].shape.volume());
  for (const Dim& dim : call.result.shape.dims()) {
    products *= call.operands[1].shape.has(dim.name) ? 1 : static_cast<double>(dim.size);
  }
  return 2 * products;
}

double conv_transpose_flops(const OpCall& call) {
  double flops = product_flops(call);
  for (const WindowAxis& axis : axes_of(call.args, true)) {
    flops /= static_cast<double>(axis.stride);
  }
  return flops;
}

double conv_kernel_flops(const OpCall& call) {
  auto products = static_cast<double>(call.operands[1].shape.volume());
  const WindowAxes axes = axes_of(call.args, false);
  for (const Dim& dim : call.operands[0].shape.dims()) {
    const bool is_new = !is_window_dim(axes, dim.name) && !call.operands[1].shape.has(dim.name);
    products *= is_new ? static_cast<double>(dim.size) : 1;
  }
  for (const WindowAxis& axis : axes) {
    products *= static_cast<double>(axis.taps.size);
  }
  return 2 * products;
}

}  // namespace mtf
