// Where a rank's slice lies in a whole tensor, row-major, as runs of bytes that are in one piece in
// both.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/layout/layout.h"

namespace mtf {

class SlicePlace {
 public:
  // `width`: bytes of an element.
  SlicePlace(const Shape& shape, std::int64_t width, const Slice& slice);

  [[nodiscard]] bool is_empty() const { return run_ == 0; }

  // Calls f(in the tensor, in the slice, how many), all in bytes, for what of the slice lies in
  // bytes begin..end of the tensor, in order.
  template <typename F>
  void runs(std::int64_t begin, std::int64_t end, F&& f) const {
    if (run_ > 0) {
      visit(0, start_, 0, begin, end, f);
    }
  }

 private:
  struct Outer {
    std::int64_t count = 1;
    std::int64_t stride = 0;  // in the tensor
    std::int64_t within = 0;  // in the slice
  };

  template <typename F>
  void visit(std::size_t dim, std::int64_t at, std::int64_t in_slice, std::int64_t begin,
             std::int64_t end, F& f) const {
    if (dim == outer_.size()) {
      const std::int64_t from = std::max(at, begin);
      const std::int64_t to = std::min(at + run_, end);
      if (from < to) {
        f(from, in_slice + (from - at), to - from);
      }
      return;
    }
    if (end <= at) {
      return;
    }
    const Outer& outer = outer_[dim];
    const std::int64_t first = begin <= at ? 0 : (begin - at) / outer.stride;
    const std::int64_t last = std::min(outer.count - 1, (end - 1 - at) / outer.stride);
    for (std::int64_t i = first; i <= last; ++i) {
      visit(dim + 1, at + i * outer.stride, in_slice + i * outer.within, begin, end, f);
    }
  }

  std::vector<Outer> outer_;
  std::int64_t start_ = 0;  // of the first run, in the tensor
  std::int64_t run_ = 0;    // bytes; 0: the rank has nothing
};

}  // namespace mtf
