// One leaf of one result whose elements lie side by side, in long runs or all of them, in the order
// of reduce_kernel.h.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "runtime/kernels/reduce/piece_tree.h"
#include "runtime/kernels/reduce/reduce_kernel.h"
#include "runtime/kernels/reduce/reduce_run.h"
#include "runtime/kernels/reduce/stored_rows.h"

namespace mtf {

// In progress, run by run.
template <typename Op, typename T>
class LongLeaf {
 public:
  LongLeaf() { lanes_.fill(Op::identity()); }

  template <typename S>
  void take(const S* run, std::int64_t n) {
    while (n > 0) {
      if (number_ == kLongestLeaf) {
        pieces_.add(joined_lanes());
        lanes_.fill(Op::identity());
        number_ = 0;
      }
      const std::int64_t part = std::min(n, kLongestLeaf - number_);
      take_part(run, part);
      number_ += part;
      run += part;
      n -= part;
    }
  }

  [[nodiscard]] T joined() {
    if (pieces_.empty()) {
      return joined_lanes();
    }
    pieces_.add(joined_lanes());
    return pieces_.joined();
  }

 private:
  // Of one piece.
  template <typename S>
  void take_part(const S* run, std::int64_t n) {
    alignas(64) std::array<T, kReduceLanes> lanes = lanes_;  // nothing else points at it
    auto lane = static_cast<std::size_t>(number_ % kReduceLanes);
    std::int64_t i = 0;
    for (; lane != 0 && i < n; ++i) {
      lanes[lane] = Op::apply(lanes[lane], static_cast<T>(run[i]));
      lane = (lane + 1) % kReduceLanes;
    }
    const std::int64_t whole = (n - i) / kReduceLanes * kReduceLanes;
    accumulate_runs<Op>(run + i, run + i + whole, lanes.data());
    i += whole;
    for (; i < n; ++i) {
      lanes[lane] = Op::apply(lanes[lane], static_cast<T>(run[i]));
      ++lane;
    }
    lanes_ = lanes;
  }

  [[nodiscard]] T joined_lanes() const {
    std::array<T, kReduceLanes> lanes = lanes_;
    for (std::size_t half = kReduceLanes / 2; half > 0; half /= 2) {
      for (std::size_t l = 0; l < half; ++l) {
        lanes[l] = Op::apply(lanes[l], lanes[l + half]);
      }
    }
    return lanes[0];
  }

  alignas(64) std::array<T, kReduceLanes> lanes_;
  std::int64_t number_ = 0;  // of the next element in its piece
  PieceTree<Op, T> pieces_;  // before that
};

// All of them.
template <typename Op, typename T, typename S>
T reduce_adjacent(const S* x, std::int64_t n) {
  if (n <= kLongestLeaf) {
    return reduce_run<Op, T>(x, n);
  }
  PieceTree<Op, T> pieces;
  for (std::int64_t i = 0; i < n; i += kLongestLeaf) {
    pieces.add(reduce_run<Op, T>(x + i, std::min(n - i, kLongestLeaf)));
  }
  return pieces.joined();
}

}  // namespace mtf
