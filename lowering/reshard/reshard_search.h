// The search for the cheapest reshard: A* over layouts, with what is sure to be received as its
// lower bound (reshard_bound.h). Where that takes long, it ends by the steps that lead nearer.

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "lowering/reshard/reshard.h"

namespace mtf {

// What a search may use, and where it gives up.
struct SearchLimits {
  Axes idle = {};  // axes that neither layout names, for steps on the way
  std::int64_t received = std::numeric_limits<std::int64_t>::max();  // elements, at most
  std::int64_t layouts = std::numeric_limits<std::int64_t>::max();   // to go on from
};

// The fewest received elements, then the fewest collectives, then the fewest slices (of many axes,
// few of them); always the same ones. Nothing: not within the limits. requires: `to` has no partial
// sum. `looks`: the steps that were tried come to it.
[[nodiscard]] std::optional<std::vector<Move>> cheapest_moves(const Shape& shape, const Mesh& mesh,
                                                              const ValueLayout& from,
                                                              const ValueLayout& to,
                                                              const SearchLimits& limits,
                                                              std::int64_t& looks);

}  // namespace mtf
