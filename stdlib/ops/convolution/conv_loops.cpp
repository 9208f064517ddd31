#include "stdlib/ops/convolution/conv_loops.h"

#include <algorithm>

namespace mtf {
namespace {

std::vector<std::int64_t> strides_in(const TensorView& view) {
  return view.strides.empty() ? strides_of(view.shape) : view.strides;
}

// Per dim of an operand's view, the loop that it is; of one that is read through windows none.
void note_first(const KernelCall& call, std::vector<std::size_t>& view_dims, ConvLoops& result) {
  const IterationSpace& space = call.space;
  result.strides = strides_in(call.in[0]);
  std::size_t v = 0;
  for (std::size_t d = 0; d < space.operands[0].size(); ++d) {
    view_dims.push_back(v);
    const bool is_read = std::ranges::any_of(
        space.windows, [d](const WindowDim& window) { return window.dim == d; });
    if (is_read) {
      ++v;
      continue;
    }
    for (const std::size_t loop : space.operands[0][d]) {
      result.batch.push_back({.view_dim = v, .loop = loop});
      result.loops[loop].a = result.strides[v++];
      result.loops[loop].in_a = true;
    }
  }
}

void note_others(const KernelCall& call, ConvLoops& result) {
  const std::vector<std::int64_t> of_b = strides_in(call.in[1]);
  for (const std::vector<std::size_t>& factors : call.space.operands[1]) {
    for (const std::size_t loop : factors) {
      result.loops[loop].b = of_b[result.second.size()];
      result.loops[loop].in_b = true;
      result.second.push_back({.view_dim = result.second.size(), .loop = loop});
    }
  }
  const std::vector<std::int64_t> of_out = strides_in(call.out);
  for (std::size_t d = 0; d < call.space.result.size(); ++d) {
    ConvLoop& loop = result.loops[call.space.result[d].front()];
    loop.out = of_out[d];
    loop.in_out = true;
  }
}

}  // namespace

ConvLoops loops_of(const KernelCall& call, ConvKind kind) {
  const IterationSpace& space = call.space;
  ConvLoops result{.loops = std::vector<ConvLoop>(space.loops.size())};
  std::vector<std::size_t> view_dims;
  note_first(call, view_dims, result);
  note_others(call, result);
  const WindowAxes axes = axes_of(call.call.args, kind == ConvKind::kTransposed);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t d = space.windows[i].dim;
    ConvAxis run{.axis = axes[i], .view_dim = view_dims[d], .loops = space.operands[0][d]};
    const auto taps = std::ranges::find(space.loops, axes[i].taps.name, &LoopDim::name);
    run.taps = static_cast<std::size_t>(taps - space.loops.begin());
    std::int64_t weight = 1;
    for (std::size_t l = run.loops.size(); l-- > 0;) {
      const LoopShare& share = call.shares[run.loops[l]];
      run.first += share.offset * weight;
      run.count *= share.extent;
      weight *= space.loops[run.loops[l]].size;
    }
    result.axes.push_back(std::move(run));
  }
  return result;
}

}  // namespace mtf
