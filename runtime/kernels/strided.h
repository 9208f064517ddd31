// Moving elements between strided boxes: the work behind transpose, slice, pad, concat and reshape,
// and of messages that carry what an operation moves.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/kernel.h"

namespace mtf {

// The stride in a dense tensor of shape `of` along each dim of `over`; 0 along dims that it lacks.
[[nodiscard]] std::vector<std::int64_t> strides_by_name(const Shape& of, const Shape& over);
// The same of a view, which may have strides of its own.
[[nodiscard]] std::vector<std::int64_t> strides_by_name(const TensorView& of, const Shape& over);

struct StridedDim {
  std::int64_t extent = 1;
  std::int64_t from = 0;  // element strides
  std::int64_t to = 0;
};

// Whether the elements lie behind each other on that side, in the order of the dims.
[[nodiscard]] bool is_run(std::span<const StridedDim> dims, std::int64_t StridedDim::*side);

// Copies a box of elements, dims major first. No element of `to` is written twice.
void copy_strided(std::vector<StridedDim> dims, std::size_t element_bytes, const void* from,
                  void* to);

// The same on as many threads as are worth it.
void copy_strided(std::vector<StridedDim> dims, std::size_t element_bytes, const void* from,
                  void* to, const Cpu& cpu);

// A number as an element, in the first bytes.
using ElementBytes = std::array<std::byte, 8>;
[[nodiscard]] ElementBytes element_of(DType dtype, double value);

// Fills with 0 or, for floats, with -0 if `negative`: what changes no sum it is added to.
void fill_zero(const TensorView& out, bool negative);

// `view.data` advanced by `index` elements.
[[nodiscard]] const std::byte* at(const TensorView& view, std::int64_t index);
[[nodiscard]] std::byte* at_mutable(const TensorView& view, std::int64_t index);

}  // namespace mtf
