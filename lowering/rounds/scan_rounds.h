// The messages of an exclusive scan over ranks.
//
// In round k a rank swaps the join of the 2^k ranks that it is one of with the neighbours beside
// them, where either needs it: so all are joined in the tree of runtime/kernels/tree.h, and a rank
// has received every subtree that lies before it.

#pragma once

#include <cstdint>
#include <vector>

namespace mtf {

struct ScanRound {
  std::int64_t partner = 0;  // by the place in the order of the scan
  bool sends = false;
  bool receives = false;
  bool before = false;  // whether the partner comes before this rank
};

// Those of the rank at `place` of so many; idle ones are in the list, too.
[[nodiscard]] std::vector<ScanRound> scan_rounds(std::int64_t ranks, std::int64_t place);

// Messages that it receives; and that the rank receives which receives most.
[[nodiscard]] std::int64_t scan_messages(std::int64_t ranks, std::int64_t place);
[[nodiscard]] std::int64_t most_scan_messages(std::int64_t ranks);

}  // namespace mtf
