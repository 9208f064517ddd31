// Leaves of few results whose elements lie in rows, or apart from each other. What rows are too
// short to be joined as they lie is copied behind each other first, some of them at a time.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "runtime/kernels/reduce/long_leaf.h"
#include "runtime/kernels/reduce/reduce_kernel.h"
#include "runtime/kernels/reduce/reduce_run.h"
#include "runtime/kernels/reduce/reduction_plan.h"

namespace mtf {

// Copies `rows` runs of `run` elements, which begin `apart` from each other, behind each other: of
// each kWidth, in registers, which takes less time than to count. The next run writes over what is
// too much; the last `exact` ones, behind which memory may end, are copied as they are. Requires
// 0 < run <= apart, run <= kWidth, and room for kWidth elements more.
template <std::int64_t kWidth, typename S>
void pack_runs(const S* x, std::int64_t rows, std::int64_t exact, std::int64_t run,
               std::int64_t apart, S* to) {
  std::int64_t row = 0;
  for (; row < rows - exact; ++row) {
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
      : leaf_length_(plan.leaf_length),
        outer_(plan.inside),
        rows_(plan.run),
        run_({.extent = 1, .in = 1, .out = 0}) {
    if (plan.run.in == 1) {
      find_rows(plan);
    }
    std::int64_t count = 1;
    if (!plan.leaves.loops.empty()) {  // those that lie in the same rows
      const ReduceLoop& last = plan.leaves.loops.back();
      if (last.extent <= kMostLeaves && last.in < rows_.in) {
        apart_ = last.in;
        count = last.extent;
      }
    }
    leaves_.resize(static_cast<std::size_t>(count));
    room_ = kRoom / count / kReduceLanes * kReduceLanes;
  }

  // How many leaves go together.
  [[nodiscard]] std::size_t count() const { return leaves_.size(); }

  // What each of the leaves at `x` comes to.
  void reduce(const S* x, std::span<T> found) {
    held_ = 0;
    for_each(outer_, 0, 0, [&](std::int64_t at, std::int64_t) {
      if (are_long_) {
        take_rows(x + at);
      } else {
        pack_rows(x + at);
      }
    });
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
      if (leaf_length_ == held_) {
        found[leaf] = reduce_run<Op, T>(packed_of(leaf), held_);
        continue;
      }
      leaves_[leaf].take(packed_of(leaf), held_);
      found[leaf] = leaves_[leaf].joined();
      leaves_[leaf] = {};
    }
  }

 private:
  static constexpr std::int64_t kLongestPacked = 128;
  static constexpr std::int64_t kRoom =
      2 * kLongestPacked * kMostLeaves;  // elements, of all leaves

  void find_rows(const ReductionPlan& plan) {
    run_ = plan.run;
    rows_ = {};
    if (!outer_.empty()) {
      rows_ = outer_.back();
      outer_.pop_back();
    }
    const bool begins_in_lane_0 = run_.extent % kReduceLanes == 0;
    are_long_ = run_.extent > kLongestPacked || (run_.extent >= kLongRun && begins_in_lane_0);
    if (run_.extent <= kLongRun && run_.extent <= rows_.in) {
      width_ = std::max<std::int64_t>(
          4, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(run_.extent))));
      exact_ = (width_ - run_.extent + rows_.in - 1) / rows_.in;
    }
  }

  S* packed_of(std::size_t leaf) {  // with room for what pack_runs writes behind
    return packed_.data() + static_cast<std::int64_t>(leaf) * (room_ + kLongRun);
  }

  void take_rows(const S* x) {
    for (std::int64_t row = 0; row < rows_.extent; ++row) {
      const S* from = x + row * rows_.in;
      for (LongLeaf<Op, T>& leaf : leaves_) {
        leaf.take(from, run_.extent);
        from += apart_;
      }
    }
  }

  void pack_rows(const S* x) {
    const bool fits = leaf_length_ <= room_;  // a division would take long
    for (std::int64_t row = 0; row < rows_.extent;) {
      const std::int64_t rows =
          fits ? rows_.extent : std::min(rows_.extent - row, (room_ - held_) / run_.extent);
      if (rows == 0) {
        take_packed();
        continue;
      }
      for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
        pack(x + row * rows_.in + static_cast<std::int64_t>(leaf) * apart_, rows,
             packed_of(leaf) + held_);
      }
      held_ += rows * run_.extent;
      row += rows;
    }
  }

  // But for the last few, so that what comes next begins in lane 0, too.
  void take_packed() {
    const std::int64_t taken = held_ / kReduceLanes * kReduceLanes;
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
      S* packed = packed_of(leaf);
      leaves_[leaf].take(packed, taken);
      std::copy(packed + taken, packed + held_, packed);
    }
    held_ -= taken;
  }

  void pack(const S* x, std::int64_t rows, S* to) const {
    const std::int64_t run = run_.extent;
    if (run == 1) {
      for (std::int64_t row = 0; row < rows; ++row) {
        to[row] = x[row * rows_.in];
      }
    } else if (width_ == 0) {
      for (std::int64_t row = 0; row < rows; ++row) {
        std::copy_n(x + row * rows_.in, run, to + row * run);
      }
    } else if (width_ == 4) {
      pack_runs<4>(x, rows, exact_, run, rows_.in, to);
    } else if (width_ == 8) {
      pack_runs<8>(x, rows, exact_, run, rows_.in, to);
    } else if (width_ == 16) {
      pack_runs<16>(x, rows, exact_, run, rows_.in, to);
    } else {
      pack_runs<kLongRun>(x, rows, exact_, run, rows_.in, to);
    }
  }

  std::int64_t leaf_length_;
  ReduceLoops outer_;  // over rows_
  ReduceLoop rows_;
  ReduceLoop run_;         // side by side
  bool are_long_ = false;  // and joined as they lie
  std::vector<LongLeaf<Op, T>> leaves_;
  std::int64_t width_ = 0;  // of pack_runs, for this run; 0: it is copied as it is
  std::int64_t exact_ = 0;
  std::int64_t apart_ = 0;  // from one leaf to the next
  std::int64_t room_ = 0;   // for elements of a leaf
  std::int64_t held_ = 0;   // there
  alignas(64) std::array<S, kRoom + kMostLeaves * kLongRun> packed_;
};

}  // namespace mtf
