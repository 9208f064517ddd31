// Pending sums are finished before anything else moves: innermost axes first, as the canonical tree
// adds (exact.md).

#pragma once

#include <vector>

#include "lowering/reshard.h"

namespace mtf {

// The moves that take the pending axes off `layout`, and what is then left to do for `to`.
[[nodiscard]] std::vector<Move> finish(ValueLayout& layout, const ValueLayout& to);

}  // namespace mtf
