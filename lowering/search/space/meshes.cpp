// The shapes that a mesh of so many ranks may have.

#include <utility>

#include "lowering/search/space/space.h"

namespace mtf {

Axes splitting_axes(const Mesh& mesh) {
  Axes axes;
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
    if (mesh.axes[a].size > 1) {
      axes.push_back(static_cast<AxisId>(a));
    }
  }
  return axes;
}

std::vector<Mesh> meshes_of(const Mesh& like, std::int64_t ranks) {
  std::vector<Mesh> meshes;
  std::vector<std::int64_t> sizes(like.axes.size(), 1);
  const auto fill = [&](const auto& self, std::size_t axis, std::int64_t left) -> void {
    if (axis + 1 >= sizes.size()) {
      if (!sizes.empty()) {
        sizes.back() = left;
      }
      Mesh mesh = like;
      for (std::size_t a = 0; a < sizes.size(); ++a) {
        mesh.axes[a].size = sizes[a];
      }
      meshes.push_back(std::move(mesh));
      return;
    }
    for (std::int64_t size = 1; size <= left; ++size) {
      if (left % size == 0) {
        sizes[axis] = size;
        self(self, axis + 1, left / size);
      }
    }
  };
  fill(fill, 0, ranks);
  return meshes;
}

}  // namespace mtf
