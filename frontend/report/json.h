// Machine-readable output. Keys are the contract: more may be added, none renamed.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/report/run/counts.h"
#include "ir/support/source.h"
#include "lowering/spmd.h"

namespace mtf {

// `entries`: the names of all that could have been planned instead.
[[nodiscard]] std::string plan_json(const SpmdProgram& program, const SourceMap& sources,
                                    std::int64_t rank, std::span<const std::string> entries);

// What a program prints: all of its lines, {"output": […]}, or one of them as it comes.
[[nodiscard]] std::string output_json(std::span<const std::string> lines);
[[nodiscard]] std::string output_line_json(std::string_view line);
// {"status": 0}, the last of such lines.
[[nodiscard]] std::string status_json(int status);

// One rank's counts, on one line; the texts of all ranks make the report.
[[nodiscard]] std::string rank_json(const RankCounts& counts, const Mesh& mesh);
// What such a line says that the rank received in all, in bytes.
[[nodiscard]] std::int64_t bytes_received(std::string_view rank);
[[nodiscard]] std::string counts_json(std::span<const std::string> ranks);

}  // namespace mtf
