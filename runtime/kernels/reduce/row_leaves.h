// Leaves of few results whose elements lie in rows, or apart from each other. What rows are too
// short to be joined as they lie is copied behind each other first, some of them at a time.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>

#include "runtime/kernels/reduce/long_leaf.h"
#include "runtime/kernels/reduce/reduce_kernel.h"
#include "runtime/kernels/reduce/reduction_plan.h"

namespace mtf {

// Copies `rows` runs of `run` elements, which begin `apart` from each other, behind each other: of
// each kWidth, in registers, which takes less time than to count. The next run writes over what is
// too much; the last ones, behind which memory may end, are copied as they are. Requires
// 0 < run <= apart, run <= kWidth, and room for kWidth elements more.
template <std::int64_t kWidth, typename S>
void pack_runs(const S* x, std::int64_t rows, std::int64_t run, std::int64_t apart, S* to) {
  const std::int64_t end = (rows - 1) * apart + run;
  const std::int64_t wide = end < kWidth ? 0 : (end - kWidth) / apart + 1;
  std::int64_t row = 0;
  for (; row < wide; ++row) {
    std::memcpy(to + row * run, x + row * apart, kWidth * sizeof(S));
  }
  for (; row < rows; ++row) {
    std::copy_n(x + row * apart, run, to + row * run);
  }
}

// Works on the leaves of one result that lie in the same rows.
template <typename Op, typename S, typename T>
class RowLeaves {
 public:
  explicit RowLeaves(const ReductionPlan& plan)
      : outer_(plan.inside), rows_(plan.run), run_({.extent = 1, .in = 1, .out = 0}) {
    if (plan.run.in != 1) {
      return;
    }
    run_ = plan.run;
    rows_ = {};
    if (!outer_.empty()) {
      rows_ = outer_.back();
      outer_.pop_back();
    }
    const bool begins_in_lane_0 = run_.extent % kReduceLanes == 0;
    are_long_ = run_.extent > kLongestPacked || (run_.extent >= kLongRun && begins_in_lane_0);
  }

  // The loop over leaves that go together; over one where there are none.
  [[nodiscard]] ReduceLoop together(const ReduceLoops& leaves) const {
    const bool are_few = !leaves.empty() && leaves.back().extent <= kMostLeaves;
    return are_few && leaves.back().in < rows_.in ? leaves.back() : ReduceLoop{};
  }

  // What each of `found.size()` leaves, `apart` from each other, comes to.
  void reduce(const S* x, std::int64_t apart, std::span<T> found) {
    std::array<LongLeaf<Op, T>, kMostLeaves> leaves;
    const std::int64_t step = are_long_ ? 1 : rows_at_once();
    for_each(outer_, 0, 0, [&](std::int64_t at, std::int64_t) {
      for (std::int64_t row = 0; row < rows_.extent; row += step) {
        const std::int64_t rows = std::min(step, rows_.extent - row);
        const S* from = x + at + row * rows_.in;
        for (std::size_t leaf = 0; leaf < found.size(); ++leaf, from += apart) {
          leaves[leaf].take(are_long_ ? from : packed(from, rows), rows * run_.extent);
        }
      }
    });
    for (std::size_t leaf = 0; leaf < found.size(); ++leaf) {
      found[leaf] = leaves[leaf].joined();
    }
  }

 private:
  static constexpr std::int64_t kLongestPacked = 128;
  static constexpr std::int64_t kPacked = kLongestPacked * kReduceLanes;  // elements at once

  // After which the next one begins in lane 0, too.
  [[nodiscard]] std::int64_t rows_at_once() const {
    const std::int64_t even = kReduceLanes / std::gcd<std::int64_t>(run_.extent, kReduceLanes);
    return kPacked / run_.extent / even * even;
  }

  const S* packed(const S* x, std::int64_t rows) {
    S* to = packed_.data();
    const std::int64_t run = run_.extent;
    if (run == 1) {
      for (std::int64_t row = 0; row < rows; ++row) {
        to[row] = x[row * rows_.in];
      }
    } else if (run > kLongRun || rows_.in < run) {
      for (std::int64_t row = 0; row < rows; ++row) {
        std::copy_n(x + row * rows_.in, run, to + row * run);
      }
    } else if (run <= 4) {
      pack_runs<4>(x, rows, run, rows_.in, to);
    } else if (run <= 8) {
      pack_runs<8>(x, rows, run, rows_.in, to);
    } else if (run <= 16) {
      pack_runs<16>(x, rows, run, rows_.in, to);
    } else {
      pack_runs<kLongRun>(x, rows, run, rows_.in, to);
    }
    return to;
  }

  ReduceLoops outer_;  // over rows_
  ReduceLoop rows_;
  ReduceLoop run_;         // side by side
  bool are_long_ = false;  // and joined as they lie
  alignas(64) std::array<S, kPacked + kLongRun> packed_;
};

}  // namespace mtf
