// Elements read at indices known only at run time (IterationSpace::served), place by place of the
// result: one index of each dim that the indices have. The other dims are a place's row.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/kernel.h"
#include "runtime/kernels/strided.h"

namespace mtf {

// For each served dim, the numbers in a slice of its indices.
using ServedIndices = std::vector<std::vector<std::int64_t>>;
[[nodiscard]] ServedIndices served_indices(const IterationSpace& space,
                                           std::span<const TensorView> in);

// Between slices, row-major and dense, of the operands and of the result. What the result reads is
// in those of the operands, but for the served dims.
class Served {
 public:
  struct Place {
    std::int64_t from = 0;  // of its row in the tensor's slice but for its indices, in elements
    std::int64_t to = 0;    // of its row in the result's slice
    std::span<const std::int64_t> at;  // its indices, in the whole tensor
  };

  // `in`: the tensor, then the operands with indices. No data is read.
  Served(const IterationSpace& space, std::span<const TensorView> in, const TensorView& out);

  [[nodiscard]] std::int64_t places() const { return places_; }
  [[nodiscard]] const std::vector<StridedDim>& row() const { return row_; }
  [[nodiscard]] std::int64_t row_volume() const { return row_volume_; }

  // Where a place's row begins in the tensor's slice; -1: it is not in it.
  [[nodiscard]] std::int64_t in_slice(const Place& place) const {
    std::int64_t from = place.from;
    for (std::size_t s = 0; s < own_.size(); ++s) {
      const std::int64_t at = place.at[s] - own_[s].begin;
      if (at < 0 || at >= own_[s].extent) {
        return -1;
      }
      from += at * strides_[s];
    }
    return from;
  }

  // Visits places begin..end in the order of the result.
  template <typename Visit>
  void each(const ServedIndices& indices, std::int64_t begin, std::int64_t end,
            const Visit& visit) const {
    Cursor cursor(*this, begin);
    std::vector<std::int64_t> at(own_.size());
    for (std::int64_t place = begin; place < end;) {
      const std::int64_t count = std::min(end - place, cursor.left(*this));
      for (std::int64_t i = 0; i < count; ++i) {
        for (std::size_t s = 0; s < at.size(); ++s) {
          at[s] = indices[s][static_cast<std::size_t>(cursor.index[s])];
        }
        visit(Place{.from = cursor.from, .to = cursor.to, .at = at});
        if (!dims_.empty()) {
          cursor.advance(dims_.back(), 1);
        }
      }
      cursor.pass(*this, count);
      place += count;
    }
  }

 private:
  // A dim of the result that the indices have; strides along it.
  struct PlaceDim {
    std::int64_t extent = 1;
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::vector<std::int64_t> index;  // per served dim, in the slice of its indices
  };
  struct Cursor {
    Cursor(const Served& served, std::int64_t place);
    // Places up to the end of the last dim.
    [[nodiscard]] std::int64_t left(const Served& served) const {
      return digits.empty() ? 1 : served.dims_.back().extent - digits.back();
    }
    // The last dim has been advanced so many times, no more than are left.
    void pass(const Served& served, std::int64_t count);
    void advance(const PlaceDim& dim, std::int64_t by);

    std::vector<std::int64_t> digits;
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::vector<std::int64_t> index;
  };

  void add_dim(const IterationSpace& space, std::span<const TensorView> in, const TensorView& out,
               std::size_t dim);

  std::vector<PlaceDim> dims_;
  std::vector<StridedDim> row_;
  std::int64_t places_ = 1;
  std::int64_t row_volume_ = 1;
  std::int64_t from_ = 0;              // of the result's first element in the tensor's slice
  std::vector<std::int64_t> index_;    // and in those of the indices
  std::vector<Interval> own_;          // of the served dims, in the tensor's slice
  std::vector<std::int64_t> strides_;  // along them
};

// Copies rows of one kind. Both sides are addresses of first elements.
class RowCopy {
 public:
  RowCopy(std::vector<StridedDim> dims, std::int64_t width);

  void operator()(const std::byte* from, std::byte* to) const;
  void zero(std::byte* to) const;

  // With the elements behind each other in `to`, or in `from`.
  [[nodiscard]] static RowCopy packing(std::vector<StridedDim> dims, std::int64_t width);
  [[nodiscard]] static RowCopy unpacking(std::vector<StridedDim> dims, std::int64_t width);

 private:
  std::vector<StridedDim> dims_;
  std::size_t width_;
  std::size_t bytes_;  // of a row
  bool is_run_ = true;
};

}  // namespace mtf
