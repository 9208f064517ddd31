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
  explicit LaneRows(const ReductionPlan& plan) : ahead_(plan.ahead) {
    const std::int64_t row = std::min(plan.side.extent, results_together(sizeof(T))) * kSize;
    const bool is_near = plan.leaf_length * row <= kNear;
    const std::int64_t places = kConflict / std::gcd(plan.run.in * kSize, kConflict);
    const bool is_spread = plan.leaf_length <= kSamePlace * places;
    if (!kAdds || plan.leaf_length < kReduceLanes || !is_near || !is_spread || plan.side.in != 1) {
      return;
    }
    for_each(plan.inside, 0, 0, [&](std::int64_t at, std::int64_t) {
      for (std::int64_t i = 0; i < plan.run.extent; ++i) {
        rows_.push_back(at + i * plan.run.in);
      }
    });
  }

  // Whether the plan's leaves are such.
  [[nodiscard]] bool fit(std::int64_t count) const { return !rows_.empty() && count >= kOne; }

  // The leaf at `x` of `count` results, the last of which are perhaps made twice.
  void reduce(const S* x, std::int64_t count, T* out) const {
    for (std::size_t row = 0; row < rows_.size() && ahead_ != 0; ++row) {
      fetch(x + rows_[row] + ahead_, count);
    }
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

  std::int64_t ahead_;
  std::vector<std::int64_t> rows_;  // where each begins
};

}  // namespace mtf
