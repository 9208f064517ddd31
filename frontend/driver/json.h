// Machine-readable output. Keys are the contract: more may be added, none renamed.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "frontend/driver/counts.h"
#include "ir/support/source.h"
#include "lowering/spmd.h"

namespace mtf {

// `entries`: the names of all that could have been planned instead.
[[nodiscard]] std::string plan_json(const SpmdProgram& program, const SourceMap& sources,
                                    std::int64_t rank, std::span<const std::string> entries);

// One rank's counts, on one line; the texts of all ranks make the report.
[[nodiscard]] std::string rank_json(const RankCounts& counts, const Mesh& mesh);
[[nodiscard]] std::string counts_json(std::span<const std::string> ranks);

}  // namespace mtf
