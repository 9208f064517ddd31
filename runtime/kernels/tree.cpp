// Nested block trees, flattened to merge counts.

#include "runtime/kernels/tree.h"

#include <algorithm>
#include <utility>

namespace mtf {

std::vector<int> combine_tree_blocks(std::span<const std::int64_t> blocks_per_dim) {
  std::vector<int> merges = {0};
  // From the innermost dim outwards: each block of a dim repeats the whole tree of the dims inside
  // it, and its own merges come after the last leaf of that repetition.
  for (std::size_t d = blocks_per_dim.size(); d-- > 0;) {
    std::vector<int> outer;
    outer.reserve(merges.size() * static_cast<std::size_t>(blocks_per_dim[d]));
    for (std::int64_t i = 0; i < blocks_per_dim[d]; ++i) {
      outer.insert(outer.end(), merges.begin(), merges.end());
      outer.back() += merges_after(i, blocks_per_dim[d]);
    }
    merges = std::move(outer);
  }
  return merges;
}

int most_waiting(std::span<const int> merges) {
  int most = 1;
  int waiting = 0;
  for (const int merged : merges) {
    most = std::max(most, ++waiting);
    waiting -= merged;
  }
  return most;
}

bool are_subtrees(std::span<const int> merges, std::int64_t count) {
  const auto leaves = static_cast<std::int64_t>(merges.size());
  for (std::int64_t i = 0; i < leaves; ++i) {
    const std::int64_t place = i % count;
    const int inside = merges_after(place, count);
    const int found = merges[static_cast<std::size_t>(i)];
    if (place + 1 == count ? found < inside : found != inside) {
      return false;
    }
  }
  return leaves % count == 0;
}

}  // namespace mtf
