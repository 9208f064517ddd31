// Candidates of a search, drawn.

#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "lowering/search/search.h"

namespace mtf::tests {

// Layouts called `found` on a mesh with axes of these sizes.
[[nodiscard]] SpaceLimits limits_on(const std::vector<std::int64_t>& sizes, bool uneven = false);

// Variables have rules of their own along an axis once in so many times.
[[nodiscard]] LayoutCandidate drawn_layout(const SearchSpace& space, std::mt19937_64& random,
                                           std::uint64_t own_rules);

}  // namespace mtf::tests
