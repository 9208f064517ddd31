// One leaf of many results that lie side by side: lanes are rows of results, in the order of
// reduce_kernel.h.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "runtime/kernels/reduce/lane_rows.h"
#include "runtime/kernels/reduce/reduce_kernel.h"
#include "runtime/kernels/reduce/reduce_ops.h"
#include "runtime/kernels/reduce/reduction_plan.h"
#include "runtime/kernels/reduce/stored_rows.h"
#include "runtime/kernels/tree.h"

namespace mtf {

// Lanes of `count` results, at most results_together: lane l of result j is at [l * count + j], so
// that rows behind each other in memory are so here.
template <typename T>
struct Lanes {  // NOLINT(cppcoreguidelines-pro-type-member-init): lanes begin where they are new
  static constexpr std::int64_t kMost = results_together(sizeof(T));

  alignas(64) std::array<T, static_cast<std::size_t>(kReduceLanes* kMost)> at;
  std::int64_t count = kMost;

  T* lane(std::int64_t i) { return at.data() + i * count; }
};

// Operands are stored as S, here and below, and widened as they are read. Combines one element per
// result, `stride` apart, with a lane that is new or not.
template <typename Op, typename S, typename T>
void add_elements(const S* x, std::int64_t stride, std::int64_t count, bool is_new, T* lane) {
  if (is_new && stride == 1) {
    make_row<S>(count, lane, [x](std::int64_t j, auto zero) {
      return begun<Op>(widened<decltype(zero)>(x + j));
    });
  } else if (is_new) {
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

// Leaves of as many rows of results as one of kFew, as blocks of small pictures are, or of short
// texts: in registers, in the order of lanes.
template <typename Op, typename S, typename T>
class FewRows {
 public:
  explicit FewRows(const ReductionPlan& plan)
      : step_(plan.side.in), rows_(suit(plan) ? LeafRows(plan) : LeafRows()) {}

  // Whether the plan's leaves are such.
  [[nodiscard]] bool are_few() const { return rows_.size() > 0; }

  // The leaf at `x` of `count` results.
  void reduce(const S* x, std::int64_t count, T* out) const {
    rows_.fetch_next(x, count);
    switch (rows_.size()) {
      case 1:
        return reduce_rows<1>(x, count, out);
      case 2:
        return reduce_rows<2>(x, count, out);
      case 4:
        return reduce_rows<4>(x, count, out);
      default:
        return reduce_rows<8>(x, count, out);
    }
  }

 private:
  static constexpr std::array<std::int64_t, 4> kFew = {1, 2, 4, 8};

  static bool suit(const ReductionPlan& plan) {
    return std::ranges::find(kFew, plan.leaf_length) != kFew.end();
  }

  template <std::size_t kRows>
  void reduce_rows(const S* x, std::int64_t count, T* __restrict out) const {
    std::array<const S*, kRows> rows;  // NOLINT: filled where it is read
    for (std::size_t row = 0; row < kRows; ++row) {
      rows[row] = x + rows_[row];
    }
    if (step_ == 1) {
      return make_row<S>(count, out, [&rows](std::int64_t j, auto zero) {
        return halved<decltype(zero), 0, 1>(rows, j);
      });
    }
    for (std::int64_t j = 0; j < count; ++j) {
      out[j] = halved<T, 0, 1>(rows, j * step_);
    }
  }

  // What lanes kFirst, kFirst + kApart, … come to as they are halved.
  template <typename V, std::size_t kFirst, std::size_t kApart, std::size_t kRows>
  [[gnu::always_inline]] static V halved(const std::array<const S*, kRows>& rows, std::int64_t at) {
    if constexpr (kApart == kRows) {
      return begun<Op>(widened<V>(rows[kFirst] + at));
    } else {
      return joined<Op>(halved<V, kFirst, 2 * kApart>(rows, at),
                        halved<V, kFirst + kApart, 2 * kApart>(rows, at));
    }
  }

  std::int64_t step_;
  LeafRows rows_;
};

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

// The leaves of a plan, in the way that suits them.
template <typename Op, typename S, typename T>
class SideLeaves {
 public:
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): lanes are filled before they are read
  explicit SideLeaves(const ReductionPlan& plan) : plan_(plan), few_(plan), by_lanes_(plan) {}

  // The one at `x` of `count` results side by side. Behind `out` is room for its pieces.
  void reduce(const S* x, std::int64_t count, T* out) {
    if (few_.are_few()) {
      few_.reduce(x, count, out);
    } else if (by_lanes_.fit(count)) {
      by_lanes_.reduce(x, count, out);
    } else {
      reduce_leaf<Op>(plan_, x, count, lanes_, out);
    }
  }

 private:
  const ReductionPlan& plan_;
  FewRows<Op, S, T> few_;
  LaneRows<Op, S, T> by_lanes_;
  Lanes<T> lanes_;
};

}  // namespace mtf
