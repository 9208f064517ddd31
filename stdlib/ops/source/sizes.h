// Shapes of what is read: dims without a size, as those have that no declaration knows, have the
// file's.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/shape.h"

namespace mtf::ops {

// As it is where the file has another number of dims.
[[nodiscard]] inline Shape with_sizes(const Shape& shape, std::span<const std::int64_t> sizes) {
  if (sizes.size() != shape.rank()) {
    return shape;
  }
  std::vector<Dim> dims(shape.dims().begin(), shape.dims().end());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    dims[i].size = dims[i].size == 0 ? sizes[i] : dims[i].size;
  }
  return Shape(std::move(dims));
}

// The dims in the file's order, where only that is another one; or nullopt.
[[nodiscard]] inline std::optional<Shape> in_order_of(std::span<const std::int64_t> sizes,
                                                      const Shape& shape) {
  std::vector<Dim> left(shape.dims().begin(), shape.dims().end());
  std::vector<Dim> dims;
  for (const std::int64_t size : sizes) {
    const auto found = std::ranges::find(left, size, &Dim::size);
    if (found == left.end()) {
      return std::nullopt;
    }
    dims.push_back(*found);
    left.erase(found);
  }
  return left.empty() ? std::optional(Shape(std::move(dims))) : std::nullopt;
}

}  // namespace mtf::ops
