// Values for tests of communication: one buffer per rank, and what must come out of a collective.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ir/layout/layout.h"
#include "runtime/kernels/tree.h"
#include "runtime/ranks/communicator.h"

namespace mtf::test {

template <typename T>
using PerRank = std::vector<std::vector<T>>;

template <typename T>
std::vector<const void*> ins(const PerRank<T>& values) {
  std::vector<const void*> result;
  for (const std::vector<T>& one : values) {
    result.push_back(one.data());
  }
  return result;
}

template <typename T>
std::vector<void*> outs(PerRank<T>& values) {
  std::vector<void*> result;
  for (std::vector<T>& one : values) {
    result.push_back(one.data());
  }
  return result;
}

// Numbers whose sum depends on the order; the same for a rank wherever it runs.
template <typename T>
std::vector<T> numbers(std::int64_t rank, std::int64_t count) {
  std::uint64_t state = static_cast<std::uint64_t>(rank) * 7919 + 13;
  std::vector<T> result(static_cast<std::size_t>(count));
  for (T& value : result) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const double x = static_cast<double>(static_cast<std::int64_t>(state)) / 0x1p63;
    value = static_cast<T>(std::is_floating_point_v<T> ? x * x * x * 1000 : 100 + 100 * x);
  }
  return result;
}

template <typename T>
PerRank<T> numbers_of(std::span<const std::int64_t> ranks, std::int64_t count) {
  PerRank<T> result;
  for (const std::int64_t rank : ranks) {
    result.push_back(numbers<T>(rank, count));
  }
  return result;
}

// The sum of leaves begin..end in the tree of runtime/kernels/tree.h, straight from its definition.
template <typename T>
T tree_sum(std::span<const T> leaves) {
  if (leaves.size() == 1) {
    return leaves.front();
  }
  const auto left = static_cast<std::size_t>(tree_split(static_cast<std::int64_t>(leaves.size())));
  return static_cast<T>(tree_sum(leaves.first(left)) + tree_sum(leaves.subspan(left)));
}

inline Mesh mesh_of(const std::vector<std::int64_t>& sizes) {
  Mesh mesh{.name = "m", .axes = {}, .profile = "", .span = {}};
  for (const std::int64_t size : sizes) {
    mesh.axes.push_back(
        {.name = std::string(1, static_cast<char>('a' + mesh.axes.size())), .size = size});
  }
  return mesh;
}

// A layout that splits dims over some axes of the mesh, no axis twice.
inline ValueLayout random_layout(std::mt19937& random, const Shape& shape, const Mesh& mesh) {
  ValueLayout layout = replicated(shape);
  std::vector<AxisId> axes(mesh.axes.size());
  std::iota(axes.begin(), axes.end(), AxisId{0});
  std::ranges::shuffle(axes, random);
  for (const AxisId axis : axes) {
    const std::size_t dim = random() % (shape.rank() + 1);
    if (dim < shape.rank() &&
        shape[dim].size % (mesh.size_of(layout.dims[dim]) * mesh.axes[axis].size) == 0) {
      layout.dims[dim].push_back(axis);
    }
  }
  return layout;
}

// The elements of `whole` (row-major) that lie in a slice.
template <typename T>
std::vector<T> slice_values(const Shape& shape, const Slice& slice, const std::vector<T>& whole) {
  std::vector<std::int64_t> index = slice.offset;
  const std::vector<std::int64_t> strides = strides_of(shape);
  std::int64_t volume = 1;
  for (const std::int64_t extent : slice.extent) {
    volume *= extent;
  }
  std::vector<T> result;
  for (std::int64_t i = 0; i < volume; ++i) {
    std::int64_t rest = i;
    std::int64_t place = 0;
    for (std::size_t d = shape.rank(); d-- > 0;) {
      place += (slice.offset[d] + rest % slice.extent[d]) * strides[d];
      rest /= slice.extent[d];
    }
    result.push_back(whole[static_cast<std::size_t>(place)]);
  }
  return result;
}

}  // namespace mtf::test
