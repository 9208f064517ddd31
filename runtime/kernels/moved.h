// Elements that an operation moves (IterationSpace::moved), as boxes: those of one slice that
// another one reads, and what of it reads none.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/kernel.h"
#include "runtime/kernels/strided.h"

namespace mtf {

// As many elements of one slice as of another, dim by dim; where they begin, in elements.
struct MovedBox {
  std::vector<StridedDim> dims;
  std::int64_t from = 0;
  std::int64_t to = 0;

  [[nodiscard]] std::int64_t volume() const;
  // Whether the elements lie behind each other on that side, in the order of the dims.
  [[nodiscard]] bool is_run_in_from() const;
  [[nodiscard]] bool is_run_in_to() const;
};

// Operand and result of such an operation; slices are row-major and dense.
struct MovedSlices {
  std::span<const MovedDim> reads;  // one per dim of the operand
  const Shape& operand;             // whole
  const Slice& from;                // of the operand
  const Slice& to;                  // of the result
};

[[nodiscard]] std::vector<MovedBox> boxes_between(const MovedSlices& slices);

// Writes the borders' values into what of `to` reads no element.
void fill_border(const MovedSlices& slices, DType dtype, void* to);

// All that `to` takes from an operand that lies on the rank, and the border.
void move_elements(const MovedSlices& slices, DType dtype, const void* from, void* to);

[[nodiscard]] Slice slice_of(const TensorView& view);

// The kernel of an operation that moves, whose operand lies on the rank.
void moved_kernel(const KernelCall& call);

}  // namespace mtf
