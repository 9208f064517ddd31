// `mtf search --scale` for people.

#include <algorithm>
#include <cmath>

#include "frontend/report/quantity.h"
#include "frontend/report/search/layout_source.h"
#include "frontend/report/search/scale_report.h"
#include "ir/support/columns.h"

namespace mtf {
namespace {

std::string gap_cell(const SearchProof& proof) {
  return !proof.fits       ? (proof.is_proven() ? "none fits" : "?")
         : proof.gap == 0  ? "0 %"
         : proof.gap < 1e9 ? less_text(proof.gap)
                           : "?";
}

Row row_of(const ScaleRow& row, const std::string& rules) {
  const Priced& priced = row.found.priced;
  return {count_text(row.ranks),
          count_text(row.size),
          seconds_text(priced.seconds),
          percent_text(priced.seconds > 0 ? priced.communication / priced.seconds : 0),
          percent_text(row.found.utilization),
          bytes_text(priced.peak_bytes),
          row.fits ? "" : "too much",
          gap_cell(row.proof),
          axes_source(row.found.written),
          rules};
}

}  // namespace

std::string scale_text(const ScaleReport& report) {
  std::string text = entries_text(report.entries) + ": the least " +
                     std::string(name_of(report.goal.objective)) + " as ranks of " +
                     report.hardware + " grow";
  if (report.goal.memory > 0) {
    text += ", of which each holds " + bytes_text(static_cast<std::int64_t>(report.goal.memory));
  }
  text += ", and " + report.dim + " with them: " + report.grows;
  for (const std::string& dim : report.follow) {
    text += (&dim == report.follow.data() ? "; so does " : ", ") + dim;
  }
  text += "\n\n";
  std::vector<Row> rows = {{"ranks", report.dim, "time", "of it moving", "utilization",
                            "peak memory", "", "gap", "mesh", "rules"}};
  std::string last;
  for (const ScaleRow& row : report.rows) {
    if (!row.obstacle.empty()) {
      rows.push_back(
          {count_text(row.ranks), count_text(row.size), "", "", "", "", "", "", "", row.obstacle});
      continue;
    }
    std::string rules = rules_source(row.found.layout);
    rows.push_back(row_of(row, rules == last ? "the same" : rules));
    last = std::move(rules);
  }
  return text +
         in_columns(rows, {.gap = 3, .widest = 60, .width = 400, .right = {0, 1, 2, 3, 4, 5, 7}}) +
         "\nutilization: the share of the ranks' peak rate that the work takes which one rank "
         "alone "
         "would have\ngap: how much less there might be at most; 0 % is proven\n";
}

std::string scale_bars(const ScaleReport& report, std::size_t columns) {
  constexpr std::size_t kBeside = 32;
  const std::size_t width = std::clamp<std::size_t>(columns, 50, 100) - kBeside;
  std::vector<Row> rows;
  double most = 0;
  for (const ScaleRow& row : report.rows) {
    most = std::max(most, row.found.utilization);
  }
  for (const ScaleRow& row : report.rows) {
    const double share = most > 0 ? row.found.utilization / most : 0;
    const auto length = static_cast<std::size_t>(std::lround(share * static_cast<double>(width)));
    rows.push_back({count_text(row.ranks, "rank"), "|" + std::string(length, '#'),
                    row.obstacle.empty() ? percent_text(row.found.utilization) : "no layout"});
  }
  return "\nutilization\n" + in_columns(rows, {.widest = 100, .right = {0, 2}});
}

}  // namespace mtf
