// How a program fares as ranks grow, and a dim with them.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/report/search/search_report.h"

namespace mtf {

// The best layout on so many ranks.
struct ScaleRow {
  std::int64_t ranks = 1;
  std::int64_t size = 1;  // of the dim
  std::string obstacle;   // no layout is legal, and nothing below is known; "" otherwise
  FoundLayout found = {};
  bool fits = true;  // the memory of a rank
  SearchProof proof = {};
};

struct ScaleReport {
  std::vector<std::string> entries;
  std::string hardware;
  SearchGoal goal;
  std::string dim;
  std::string grows;                     // "by 16 for each rank (64 on the 4 of grid)"
  std::vector<std::string> follow = {};  // dims that grow because this one does
  std::vector<ScaleRow> rows;
};

[[nodiscard]] std::string scale_text(const ScaleReport& report);
[[nodiscard]] std::string scale_json(const ScaleReport& report);

// The share of the hardware's peak that each number of ranks uses, as bars.
[[nodiscard]] std::string scale_bars(const ScaleReport& report, std::size_t columns);
// The same as a self-contained picture, with the share of a rank's memory where that is known; what
// a point is shows where the mouse is.
[[nodiscard]] std::string scale_svg(const ScaleReport& report);

}  // namespace mtf
