// Sums of many results side by side over leaves of some rows: of two registers of results at a
// time, lane after lane, where lanes in memory (side_leaf.h) are read and written for every row.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "runtime/kernels/reduce/reduce_kernel.h"
#include "runtime/kernels/reduce/reduce_ops.h"
#include "runtime/kernels/reduce/reduction_plan.h"
#include "runtime/kernels/reduce/stored_rows.h"

namespace mtf {

// Where the rows of a leaf begin, in order.
class LeafRows {
 public:
  LeafRows() = default;
  explicit LeafRows(const ReductionPlan& plan) : ahead_(plan.ahead) {
    begins_.reserve(static_cast<std::size_t>(plan.leaf_length));
    for_each(plan.inside, 0, 0, [&](std::int64_t at, std::int64_t) {
      for (std::int64_t i = 0; i < plan.run.extent; ++i) {
        begins_.push_back(at + i * plan.run.in);
      }
    });
  }

  [[nodiscard]] std::size_t size() const { return begins_.size(); }
  [[nodiscard]] std::int64_t operator[](std::size_t row) const { return begins_[row]; }

  // Asks for `count` results of each row of what comes behind the leaf at `x`.
  template <typename S>
  void fetch_next(const S* x, std::int64_t count) const {
    for (std::size_t row = 0; row < size() && ahead_ != 0; ++row) {
      fetch(x + begins_[row] + ahead_, count);
    }
  }

 private:
  std::int64_t ahead_ = 0;
  std::vector<std::int64_t> begins_;
};

struct TwoRegisters {
  WideLanes lower = {};
  WideLanes upper = {};

  friend TwoRegisters operator+(const TwoRegisters& x, const TwoRegisters& y) {
    return {.lower = x.lower + y.lower, .upper = x.upper + y.upper};
  }
};

// Of other operations, none fit.
template <typename Op, typename S, typename T>
class LaneRows {
 public:
  explicit LaneRows(const ReductionPlan& plan) : rows_(suit(plan) ? LeafRows(plan) : LeafRows()) {}

  // Whether the plan's leaves are such.
  [[nodiscard]] bool fit(std::int64_t count) const { return rows_.size() > 0 && count >= kOne; }

  // The leaf at `x` of `count` results, the last of which are perhaps made twice.
  void reduce(const S* x, std::int64_t count, T* out) const {
    rows_.fetch_next(x, count);
    if constexpr (kAdds) {
      add(x, count, out);
    }
  }

 private:
  static constexpr bool kAdds = std::is_same_v<Op, Sum<float>>;
  static constexpr auto kOne = static_cast<std::int64_t>(kNarrowLanes);
  static constexpr auto kSize = static_cast<std::int64_t>(sizeof(S));
  // Where a leaf has more bytes than these, or more rows in the same place of the nearest cache,
  // rows go one by one.
  static constexpr std::int64_t kNear = 32 << 10;
  static constexpr std::int64_t kConflict = 4096;  // bytes between rows that have the same
  static constexpr std::int64_t kSamePlace = 16;

  static bool suit(const ReductionPlan& plan) {
    const std::int64_t row = std::min(plan.side.extent, results_together(sizeof(T))) * kSize;
    const bool is_near = plan.leaf_length * row <= kNear;
    const std::int64_t places = kConflict / std::gcd(plan.run.in * kSize, kConflict);
    const bool is_spread = plan.leaf_length <= kSamePlace * places;
    return kAdds && plan.leaf_length >= kReduceLanes && is_near && is_spread && plan.side.in == 1;
  }

  void add(const S* x, std::int64_t count, float* out) const {
    std::int64_t j = 0;
    for (; j + 2 * kOne <= count; j += 2 * kOne) {
      const auto sums = halved<TwoRegisters, 0, 1>(x + j);
      std::memcpy(out + j, &sums, sizeof(sums));
    }
    for (; j < count; j += kOne) {
      j = std::min(j, count - kOne);
      const auto sums = halved<WideLanes, 0, 1>(x + j);
      std::memcpy(out + j, &sums, sizeof(sums));
    }
  }

  template <typename V>
  [[gnu::always_inline]] static V loaded(const S* x) {
    if constexpr (std::is_same_v<V, TwoRegisters>) {
      return {.lower = widened<WideLanes>(x), .upper = widened<WideLanes>(x + kOne)};
    } else {
      return widened<V>(x);
    }
  }

  // What lanes kFirst, kFirst + kApart, … come to as they are halved.
  template <typename V, std::size_t kFirst, std::size_t kApart>
  [[gnu::always_inline]] V halved(const S* x) const {
    if constexpr (kApart == kReduceLanes) {
      V lane = V{} + loaded<V>(x + rows_[kFirst]);
      for (std::size_t row = kFirst + kReduceLanes; row < rows_.size(); row += kReduceLanes) {
        lane = lane + loaded<V>(x + rows_[row]);
      }
      return lane;
    } else {
      return halved<V, kFirst, 2 * kApart>(x) + halved<V, kFirst + kApart, 2 * kApart>(x);
    }
  }

  LeafRows rows_;
};

}  // namespace mtf
