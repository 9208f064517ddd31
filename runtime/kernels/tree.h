// The one order in which partial sums are combined: over canonical blocks inside a kernel and over
// ranks in an all-reduce.
//
// A tree over n leaves splits at the largest power of two below n (balanced when n is one), so 2^k
// aligned consecutive leaves are always a subtree: a rank that owns them computes it alone.

#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace mtf {

// Leaves in the left half of a tree over n; requires n >= 2.
[[nodiscard]] constexpr std::int64_t tree_split(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n - 1)));
}

// The same tree for a stack machine: leaves are pushed in order, and after leaf `i` of `n` this
// many times the two topmost entries are replaced by their sum (lower entry + upper entry).
[[nodiscard]] constexpr int merges_after(std::int64_t i, std::int64_t n) {
  const int pushed = std::popcount(static_cast<std::uint64_t>(i)) + 1;
  const int left = i + 1 == n ? 1 : std::popcount(static_cast<std::uint64_t>(i + 1));
  return pushed - left;
}

// merges_after for nested trees: the leaves are the tuples of one block per dim, in row-major
// order, and the tree of an outer dim is over the results of the trees of the inner ones.
[[nodiscard]] std::vector<int> combine_tree_blocks(std::span<const std::int64_t> blocks_per_dim);

// The most entries that wait at any time, the one just pushed included; at least 1.
[[nodiscard]] int most_waiting(std::span<const int> merges);

// Whether each `count` leaves side by side, of a tree with such merges, are a tree of their own.
[[nodiscard]] bool are_subtrees(std::span<const int> merges, std::int64_t count);

}  // namespace mtf
