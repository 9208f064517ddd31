// All candidates of a search, time over memory.

#pragma once

#include <cstddef>
#include <string>

#include "frontend/report/search/search_report.h"

namespace mtf {

// In characters: `.` for one candidate or a few, `o` for many, `x` where none fits the memory, `*`
// for the answer. Both scales are logarithmic.
[[nodiscard]] std::string scatter_text(const SearchReport& report, std::size_t columns);
// A self-contained picture; what a point is shows where the mouse is.
[[nodiscard]] std::string scatter_svg(const SearchReport& report);

}  // namespace mtf
