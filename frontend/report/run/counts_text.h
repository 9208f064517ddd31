// The report of `mtf run --count` for people. It is the same whoever carries the messages: what
// collectives moved is told by the formula of an algorithm that sends least, as in the plan. What
// messages really carried is in the JSON report.

#pragma once

#include <span>
#include <string>

#include "frontend/report/run/counts.h"

namespace mtf {

// `first`: of rank 0. `ranks`: what all ranks counted, as JSON; where they are alike, once is
// enough.
[[nodiscard]] std::string counts_text(const RankCounts& first, const Mesh& mesh,
                                      std::span<const std::string> ranks);

}  // namespace mtf
