// One leaf of many results that lie side by side: lanes are rows of results, in the order of
// reduce_kernel.h.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "runtime/kernels/reduce/reduce_kernel.h"
#include "runtime/kernels/reduce/reduce_ops.h"
#include "runtime/kernels/reduce/reduction_plan.h"
#include "runtime/kernels/tree.h"

namespace mtf {

// Lanes of `count` results, at most kSideResults: lane l of result j is at [l * count + j], so that
// rows behind each other in memory are so here.
template <typename T>
struct Lanes {
  alignas(64) std::array<T, static_cast<std::size_t>(kReduceLanes* kSideResults)> at;
  std::int64_t count = kSideResults;

  T* lane(std::int64_t i) { return at.data() + i * count; }
};

// Operands are stored as S, here and below, and widened as they are read. Combines one element per
// result, `stride` apart, with a lane that is new or not.
template <typename Op, typename S, typename T>
void add_elements(const S* x, std::int64_t stride, std::int64_t count, bool is_new, T* lane) {
  if (is_new) {
    for (std::int64_t j = 0; j < count; ++j) {
      lane[j] = Op::apply(Op::identity(), static_cast<T>(x[j * stride]));
    }
  } else if (stride == 1) {
    accumulate<Op>(x, count, lane);
  } else {
    for (std::int64_t j = 0; j < count; ++j) {
      lane[j] = Op::apply(lane[j], static_cast<T>(x[j * stride]));
    }
  }
}

template <typename S>
[[gnu::always_inline]] inline void fetch(const S* from, std::int64_t count) {
  constexpr std::int64_t kLine = 64 / sizeof(S);
  for (std::int64_t j = 0; j < count; j += kLine) {
    __builtin_prefetch(from + j);
  }
}

// The pieces of a leaf of `count` results side by side, on a stack that begins at `out`.
template <typename Op, typename T>
class PieceRows {
 public:
  PieceRows(std::int64_t leaf_length, std::int64_t count, T* out)
      : pieces_(pieces_of(leaf_length)), count_(count), top_(out) {}

  // Not inlined into the loop over rows, whose counters would leave their registers.
  [[gnu::noinline]] void add(Lanes<T>& lanes, std::int64_t rows) {
    const std::int64_t used = std::min<std::int64_t>(kReduceLanes, rows);
    for (std::int64_t half = kReduceLanes / 2; half > 0; half /= 2) {
      const std::int64_t above = std::clamp<std::int64_t>(used - half, 0, half);
      accumulate<Op>(lanes.lane(half), above * count_, lanes.lane(0));
    }
    top_ = std::copy_n(lanes.lane(0), count_, top_);
    for (int m = merges_after(added_++, pieces_); m > 0; --m) {
      top_ -= count_;
      accumulate<Op>(top_, count_, top_ - count_);
    }
  }

 private:
  std::int64_t pieces_;
  std::int64_t count_;
  T* top_;
  std::int64_t added_ = 0;
};

// Whether rows of all results side by side lie behind each other.
[[nodiscard]] inline bool rows_are_adjacent(const ReductionPlan& plan) {
  return plan.side.in == 1 && plan.run.in == plan.side.extent;
}

// Rows of one piece of a leaf, `number` of which went before: one by one, or where they lie behind
// each other, as many together as there are lanes.
template <typename Op, typename S, typename T>
void add_rows(const ReductionPlan& plan, const S* x, std::int64_t rows, std::int64_t number,
              Lanes<T>& lanes) {
  const bool adjacent = rows_are_adjacent(plan) && lanes.count == plan.side.extent;
  for (std::int64_t row = 0; row < rows;) {
    const std::int64_t lane = (number + row) % kReduceLanes;
    const std::int64_t together = adjacent ? std::min(kReduceLanes - lane, rows - row) : 1;
    const S* from = x + row * plan.run.in;
    fetch(from + plan.ahead, plan.ahead == 0 ? 0 : together * lanes.count);
    add_elements<Op>(from, plan.side.in, together * lanes.count, number + row < kReduceLanes,
                     lanes.lane(lane));
    row += together;
  }
}

// The leaf at `x` of `count` results side by side. Behind `out` is room for its pieces.
template <typename Op, typename S, typename T>
void reduce_leaf(const ReductionPlan& plan, const S* x, std::int64_t count, Lanes<T>& lanes,
                 T* out) {
  PieceRows<Op, T> pieces(plan.leaf_length, count, out);
  lanes.count = count;
  std::int64_t number = 0;  // in the piece
  for_each(plan.inside, 0, 0, [&](std::int64_t at, std::int64_t) {
    for (std::int64_t i = 0; i < plan.run.extent;) {
      if (number == kLongestLeaf) {
        pieces.add(lanes, number);
        number = 0;
      }
      const std::int64_t rows = std::min(plan.run.extent - i, kLongestLeaf - number);
      add_rows<Op>(plan, x + at + i * plan.run.in, rows, number, lanes);
      number += rows;
      i += rows;
    }
  });
  pieces.add(lanes, number);
}

}  // namespace mtf
