// Where the elements along one side of a product lie in one tensor.

#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "runtime/products/gemm.h"

namespace mtf {

using Int64s = std::pmr::vector<std::int64_t>;
using Dims = std::pmr::vector<GemmDim>;
using Stride = std::int64_t GemmDim::*;

// One loop over elements: how many, and how far apart.
struct OffsetLoop {
  std::int64_t extent = 1;
  std::int64_t stride = 0;
};

// Relative to the first element: a rule where they are all the same distance apart, else a table;
// where that would take memory worth a mention, they are worked out from the loops.
struct Offsets {
  std::int64_t size = 0;
  bool even = true;
  std::int64_t step = 0;  // if even
  Int64s table = {};      // if not, and it is short
  Int64s runs = {};
  std::pmr::vector<OffsetLoop> loops = {};  // of one product, the first is the slowest
  std::int64_t leaf = 0;                    // indices of one product before the next one's
  Int64s shifts = {};                       // of the products that are added up

  [[nodiscard]] std::int64_t at(std::int64_t i) const {
    if (even) {
      return i * step;
    }
    return table.empty() ? work_out(i) : table[static_cast<std::size_t>(i)];
  }

  // How many elements, from the i-th on, lie next to each other; at least 1.
  [[nodiscard]] std::int64_t run(std::int64_t i) const {
    if (even) {
      return step == 1 ? size - i : 1;
    }
    return table.empty() ? work_out_run(i) : runs[static_cast<std::size_t>(i)];
  }

 private:
  [[nodiscard]] std::int64_t work_out(std::int64_t i) const;
  [[nodiscard]] std::int64_t work_out_run(std::int64_t i) const;
};

// Of all index tuples of `dims`, last dim fastest.
[[nodiscard]] Offsets offsets_of(const Dims& dims, Stride stride);
[[nodiscard]] Offsets offsets_of(const std::vector<GemmDim>& dims, Stride stride);

// The indices of all products that are added up: those of a leaf, for one after the other.
[[nodiscard]] Offsets with_terms(Offsets one, std::int64_t leaf, const std::vector<GemmTerm>& terms,
                                 std::int64_t GemmTerm::*side);

}  // namespace mtf
