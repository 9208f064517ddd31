// Rank numbers and coordinates of a mesh.

#include "ir/layout/mesh.h"

#include <algorithm>
#include <cassert>

#include "ir/support/index.h"

namespace mtf {

bool has(const Axes& axes, AxisId axis) {
  return std::ranges::find(axes, axis) != axes.end();
}

std::int64_t Mesh::ranks() const {
  std::int64_t result = 1;
  for (const MeshAxis& axis : axes) {
    result = saturating_product(result, axis.size);
  }
  return result;
}

std::int64_t Mesh::size_of(const Axes& list) const {
  std::int64_t result = 1;
  for (const AxisId axis : list) {
    result = saturating_product(result, axes[axis].size);
  }
  return result;
}

std::optional<AxisId> Mesh::find(std::string_view axis) const {
  const auto found = std::ranges::find(axes, axis, &MeshAxis::name);
  if (found == axes.end()) {
    return std::nullopt;
  }
  return static_cast<AxisId>(found - axes.begin());
}

Coordinates Mesh::place_of(std::int64_t rank) const {
  Coordinates at = {};
  for (std::size_t i = axes.size(); i-- > 0;) {
    at.at(i) = rank % axes[i].size;
    rank /= axes[i].size;
  }
  return at;
}

std::vector<std::int64_t> Mesh::coordinates(std::int64_t rank) const {
  const Coordinates at = place_of(rank);
  return {at.begin(), at.begin() + std::ssize(axes)};
}

std::int64_t Mesh::rank_at(const Coordinates& at) const {
  std::int64_t rank = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    rank = rank * axes[i].size + at.at(i);
  }
  return rank;
}

std::int64_t Mesh::index_along(const Coordinates& at, const Axes& list) const {
  std::int64_t index = 0;
  for (const AxisId axis : list) {
    index = index * axes[axis].size + at[axis];
  }
  return index;
}

Interval Mesh::part_of(std::int64_t size, const Axes& list, const Coordinates& at) const {
  std::int64_t offset = 0;
  std::int64_t width = size;
  std::int64_t end = size;
  for (const AxisId axis : list) {
    width = (width + axes[axis].size - 1) / axes[axis].size;
    offset += at[axis] * width;
    end = std::min(end, offset + width);
  }
  const std::int64_t begin = std::min(offset, end);
  return from_to(begin, end);
}

std::int64_t Mesh::longest_part(std::int64_t size, const Axes& list) const {
  const std::int64_t parts = size_of(list);
  assert(splits(size, list));
  return (size + parts - 1) / parts;
}

bool Mesh::splits(std::int64_t size, const Axes& list) const {
  return uneven || size % size_of(list) == 0;
}

std::vector<std::int64_t> Mesh::group_of(std::int64_t rank, const Axes& list) const {
  std::vector<std::int64_t> stride(axes.size(), 1);
  for (std::size_t i = axes.size(); i-- > 1;) {
    stride[i - 1] = stride[i] * axes[i].size;
  }
  const Coordinates at = place_of(rank);
  std::vector<std::int64_t> group = {rank};
  for (const AxisId axis : list) {
    group.front() -= at[axis] * stride[axis];
  }
  for (const AxisId axis : list) {  // minor axes are appended last, so they vary fastest
    std::vector<std::int64_t> wider;
    for (const std::int64_t base : group) {
      for (std::int64_t i = 0; i < axes[axis].size; ++i) {
        wider.push_back(base + i * stride[axis]);
      }
    }
    group = std::move(wider);
  }
  return group;
}

std::string to_string(const Mesh& mesh) {
  std::string text;
  for (const MeshAxis& axis : mesh.axes) {
    text += text.empty() ? "" : ", ";
    text += axis.name + ": " + std::to_string(axis.size);
  }
  return mesh.name + "[" + text + "]";
}

std::string to_string(const Mesh& mesh, const Axes& axes) {
  std::string text;
  for (const AxisId axis : axes) {
    text += text.empty() ? "" : ", ";
    text += mesh.axes[axis].name;
  }
  return text;
}

}  // namespace mtf
