// The search for the cheapest reshard: A* over layouts, with what a rank is sure to lack as its
// lower bound.

#pragma once

#include <vector>

#include "lowering/reshard.h"

namespace mtf {

// The fewest received elements, then the fewest collectives, then the fewest slices; always the
// same ones. requires: `to` has no pending sum.
[[nodiscard]] std::vector<Move> cheapest_moves(const Shape& shape, const Mesh& mesh,
                                               const ValueLayout& from, const ValueLayout& to);

// What a rank has to receive at least, in elements.
[[nodiscard]] std::int64_t least_received(const Shape& shape, const Mesh& mesh,
                                          const ValueLayout& from, const ValueLayout& to);

}  // namespace mtf
