// How Winograd's products make the gradient of a kernel of one rank's slices.

#include <algorithm>

#include "runtime/products/winograd/transforms.h"
#include "stdlib/ops/convolution/conv_loops.h"
#include "stdlib/ops/convolution/conv_plan.h"

namespace mtf {
namespace {

using Side = WinogradGradient::Side;
using Loop = WinogradGradient::Loop;

Side side_of(const KernelCall& call, const ConvLoops& of, const ConvAxis& run) {
  const std::int64_t offset = call.in[0].offset[run.view_dim];
  // Behind it no window reads what a tile would.
  const std::int64_t read_end = run.axis.small.size + kWinogradWindow - 1 - run.axis.low;
  return {.reads = run.first - run.axis.low - offset,
          .extent = std::min(call.in[0].shape[run.view_dim].size, read_end - offset),
          .x = of.strides[run.view_dim],
          .out = of.loops[run.taps].out};
}

// How many places of a side an index of one of its loops is, of which it runs over the last ones
// inside of the others.
std::int64_t places_of(const KernelCall& call, const ConvAxis& run, std::size_t loop) {
  std::int64_t places = 1;
  for (auto inner = run.loops.rbegin(); *inner != loop; ++inner) {
    places *= call.space.loops[*inner].size;
  }
  return places;
}

}  // namespace

WinogradGradient plan_winograd_gradient(const KernelCall& call) {
  const ConvLoops of = loops_of(call, ConvKind::kKernel);
  WinogradGradient product;
  for (std::size_t i = 0; i < of.axes.size(); ++i) {
    product.sides[i] = side_of(call, of, of.axes[i]);
  }
  for (std::size_t l = 0; l < of.loops.size(); ++l) {
    const ConvLoop& loop = of.loops[l];
    const std::int64_t extent = call.shares[l].extent;
    const auto run = std::ranges::find_if(
        of.axes, [l](const ConvAxis& axis) { return std::ranges::count(axis.loops, l) > 0; });
    const bool is_side = run != of.axes.end();
    if (loop.in_a && !loop.in_b) {
      product.rows = {.extent = extent, .a = loop.a, .out = loop.out};
    } else if (loop.in_b && !loop.in_a && !is_side) {
      product.cols = {.extent = extent, .b = loop.b, .out = loop.out};
    } else if (loop.in_b) {
      Loop& summed = product.loops.emplace_back();
      summed = {.extent = extent, .x = loop.a, .y = loop.b, .out = loop.out, .kept = loop.in_out};
      summed.blocks = loop.in_out ? 1 : call.blocks(l);
      if (is_side) {
        summed.side = static_cast<std::size_t>(run - of.axes.begin());
        summed.x = places_of(call, *run, l);
      }
    }
  }
  return product;
}

}  // namespace mtf
