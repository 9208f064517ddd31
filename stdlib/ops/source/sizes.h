// Shapes of what is read: dims without a size, as those have that no declaration knows, have the
// file's.

#pragma once

#include <cstdint>
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

}  // namespace mtf::ops
