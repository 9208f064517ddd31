// `mtf run --trace FILE`: what every rank did when, for chrome://tracing and ui.perfetto.dev.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "frontend/report/run/timeline.h"
#include "ir/layout/layout.h"
#include "ir/support/diag.h"

namespace mtf {

inline constexpr std::int64_t kMostTraceEvents = std::int64_t{1} << 19;  // some 150 MB of text

// Why a file of that name cannot be written; nullopt if it can, and then nothing is left behind.
[[nodiscard]] std::optional<Diag> trace_obstacle(const std::string& path);

// Collective, after `stop`. The first rank writes, beside the file's place, and renames; where that
// fails, all ranks have an error in `diags`.
void write_trace(const std::string& path, const Timeline& timeline, const Layout& layout,
                 const SourceMap& sources, Communicator& communicator, DiagSink& diags);

}  // namespace mtf
