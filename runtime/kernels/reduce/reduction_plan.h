// A reduction as loops, in memory and in the tree of its leaves.

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/dtype.h"
#include "runtime/kernels/reduce/reduce_kernel.h"

namespace mtf {

inline constexpr std::int64_t kLongRun = 32;     // elements side by side, of one result
inline constexpr std::int64_t kMostLeaves = 16;  // of one result that are done together

struct ReduceLoop {
  std::int64_t extent = 1;
  std::int64_t in = 0;
  std::int64_t out = 0;
};

using ReduceLoops = std::vector<ReduceLoop>;

// The leaves of a tree in order, and its merges behind each (tree.h).
struct TreeLeaves {
  ReduceLoops loops;
  std::vector<int> merges;
};

// Leaves that lie behind each other with short runs, in groups that are subtrees: what a row of a
// group has side by side are the runs of all its leaves.
struct ShortLeaves {
  std::int64_t length = 1;  // of a run
  std::int64_t count = 1;   // leaves of a group, a power of two
  ReduceLoops rows;         // of a group
  std::int64_t row_count = 1;
  TreeLeaves groups;

  // Runs that lanes cannot be cut into, nor be cut into lanes: spread over a power of two of them.
  [[nodiscard]] constexpr bool is_spread() const {
    return length > kReduceLanes ? length % kReduceLanes != 0
                                 : !std::has_single_bit(static_cast<std::uint64_t>(length));
  }
  // Of a leaf, in a row.
  [[nodiscard]] constexpr std::int64_t lanes() const {
    const auto covering = std::bit_ceil(static_cast<std::uint64_t>(length));
    return std::min<std::int64_t>(static_cast<std::int64_t>(covering), kReduceLanes);
  }
  // Of which a leaf is a tree.
  [[nodiscard]] constexpr bool has_pieces() const { return length * row_count > kLongestLeaf; }
};

// How many results of so many bytes are done together, at most: their lanes leave room in the
// nearest cache.
[[nodiscard]] constexpr std::int64_t results_together(std::size_t bytes) {
  constexpr std::int64_t kMostResults = 256;
  constexpr std::size_t kLaneBytes = std::size_t{16} << 10;
  return std::min<std::int64_t>(kMostResults,
                                static_cast<std::int64_t>(kLaneBytes / kReduceLanes / bytes));
}

// Loops over results, over leaves, and inside a leaf; last is fastest.
struct ReductionPlan {
  ReduceKind kind = ReduceKind::kSum;
  DType dtype = DType::kF32;
  DType stored = DType::kF32;  // of the operand; `dtype` is what it is widened to
  ReduceLoops results;         // without `side`
  ReduceLoop side;             // results that are done together
  TreeLeaves leaves;
  ReduceLoops inside;  // without `run`
  ReduceLoop run;      // the fastest
  std::int64_t leaf_length = 1;
  std::int64_t ahead = 0;  // of a row of results, in elements: what memory is asked for; 0: nothing
  std::optional<ShortLeaves> short_leaves = {};
};

// The loops over results with `side`.
[[nodiscard]] inline ReduceLoops all_results(const ReductionPlan& plan) {
  ReduceLoops loops = plan.results;
  loops.push_back(plan.side);
  return loops;
}

// Of a leaf, by what it has of elements.
[[nodiscard]] constexpr std::int64_t pieces_of(std::int64_t leaf_length) {
  return (leaf_length + kLongestLeaf - 1) / kLongestLeaf;
}

// How many elements the operand has.
[[nodiscard]] std::int64_t elements_of(const ReductionPlan& plan);
[[nodiscard]] std::int64_t trips_of(const ReduceLoops& loops);

// Calls visit(in, out) for all index tuples, row-major.
template <typename Visit>
void for_each(std::span<const ReduceLoop> loops, std::int64_t in, std::int64_t out,
              const Visit& visit) {
  if (loops.empty()) {
    visit(in, out);
    return;
  }
  for (std::int64_t i = 0; i < loops[0].extent; ++i) {
    for_each(loops.subspan(1), in + i * loops[0].in, out + i * loops[0].out, visit);
  }
}

}  // namespace mtf
