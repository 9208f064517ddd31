#include "lowering/reshard/serve.h"

#include <algorithm>

namespace mtf {

Axes served_axes(const IterationSpace& space, std::span<const Axes> loops, const Mesh& mesh) {
  Axes axes;
  for (std::size_t l = 0; l < loops.size(); ++l) {
    if (space.loops[l].role == DimRole::kServed) {
      axes.insert(axes.end(), loops[l].begin(), loops[l].end());
    }
  }
  if (mesh.size_of(axes) == 1) {
    return {};
  }
  std::ranges::sort(axes);
  return axes;
}

ValueLayout served_layout(ValueLayout made, const ValueLayout& wanted) {
  for (std::size_t d = 0; d < made.dims.size(); ++d) {
    const auto [own, more] = std::ranges::mismatch(made.dims[d], wanted.dims[d]);
    if (own != made.dims[d].end()) {
      continue;
    }
    const Axes further(more, wanted.dims[d].end());
    for (const AxisId axis : further) {
      if (made.uses(axis)) {
        break;
      }
      made.dims[d].push_back(axis);
    }
  }
  return made;
}

}  // namespace mtf
