// The report of `mtf run --count` for people.

#pragma once

#include <span>
#include <string>

#include "frontend/driver/counts.h"

namespace mtf {

// `first`: of rank 0. `ranks`: what all ranks counted, as JSON; where they are alike, once is
// enough.
[[nodiscard]] std::string counts_text(const RankCounts& first, const Mesh& mesh,
                                      std::span<const std::string> ranks);

}  // namespace mtf
