// The report of `mtf run --count` for people. It is the same whoever carries the messages: what
// collectives moved is told by the formula of an algorithm that sends least, as in the plan. What
// messages really carried is in the JSON report.

#pragma once

#include <span>
#include <string>

#include "frontend/report/run/counts.h"

namespace mtf {

// What one rank did.
[[nodiscard]] std::string rank_text(const RankCounts& counts, const Mesh& mesh);

// The report: of the rank that received most, as the totals of a plan are. `texts`, `jsons`: of all
// ranks, in order; where they are alike, once is enough.
[[nodiscard]] std::string counts_text(std::span<const std::string> texts,
                                      std::span<const std::string> jsons);

}  // namespace mtf
