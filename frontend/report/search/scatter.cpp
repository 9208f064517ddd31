#include "frontend/report/search/scatter.h"

#include <algorithm>
#include <vector>

#include "frontend/report/html.h"
#include "frontend/report/quantity.h"
#include "frontend/report/search/chart.h"
#include "frontend/report/search/layout_source.h"

namespace mtf {
namespace {

struct Scales {
  Scale memory;  // across
  Scale time;    // up
};

Scales scales_of(const SearchReport& report) {
  Scales scales;
  for (const CandidatePoint& point : report.points) {
    scales.memory.add(static_cast<double>(std::max<std::int64_t>(1, point.peak_bytes)));
    scales.time.add(std::max(1e-12, point.seconds));
  }
  return scales;
}

std::size_t cell(double share, std::size_t cells) {
  return std::min(cells - 1, static_cast<std::size_t>(share * static_cast<double>(cells)));
}

}  // namespace

std::string scatter_text(const SearchReport& report, std::size_t columns) {
  constexpr std::size_t kRows = 16;
  constexpr std::size_t kMargin = 12;
  constexpr int kMany = 4;
  const std::size_t width = std::clamp<std::size_t>(columns, 40, 100) - kMargin - 2;
  const Scales scales = scales_of(report);
  std::vector<std::vector<int>> counts(kRows, std::vector<int>(width, 0));
  std::vector<std::string> rows(kRows, std::string(width, ' '));
  const auto at = [&](double seconds, double bytes) -> std::pair<std::size_t, std::size_t> {
    return {kRows - 1 - cell(scales.time.at(seconds), kRows), cell(scales.memory.at(bytes), width)};
  };
  for (const CandidatePoint& point : report.points) {
    const auto [row, column] = at(point.seconds, static_cast<double>(point.peak_bytes));
    counts[row][column] += point.fits ? 1 : 0;
    rows[row][column] = counts[row][column] == 0 ? 'x' : counts[row][column] < kMany ? '.' : 'o';
  }
  const Priced& best = report.front[report.best].priced;
  const auto [row, column] = at(best.seconds, static_cast<double>(best.peak_bytes));
  rows[row][column] = '*';
  std::string text =
      "\ntime of all layouts over peak memory; * the answer, o many"
      ", x beyond the memory of a rank\n";
  for (std::size_t r = 0; r < kRows; ++r) {
    const std::string mark = r == 0           ? seconds_text(scales.time.most())
                             : r + 1 == kRows ? seconds_text(scales.time.least())
                                              : "";
    text += std::string(kMargin - std::min(kMargin, mark.size()), ' ') + mark + " |" + rows[r];
    text.resize(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  const std::string left = bytes_text(static_cast<std::int64_t>(scales.memory.least()));
  const std::string right = bytes_text(static_cast<std::int64_t>(scales.memory.most()));
  const std::size_t gap = width - std::min(width - 1, left.size() + right.size());
  return text + std::string(kMargin + 1, ' ') + "+" + std::string(width, '-') + "\n" +
         std::string(kMargin + 2, ' ') + left + std::string(gap, ' ') + right + "\n";
}

std::string scatter_svg(const SearchReport& report) {
  constexpr double kWidth = 640;
  constexpr double kHeight = 420;
  constexpr double kLeft = 80;
  constexpr double kTop = 30;
  const Scales scales = scales_of(report);
  const auto x = [&](double bytes) { return kLeft + scales.memory.at(bytes) * kWidth; };
  const auto y = [&](double seconds) { return kTop + (1 - scales.time.at(seconds)) * kHeight; };
  const auto point_text = [](double seconds, std::int64_t bytes) {
    return seconds_text(seconds) + ", " + bytes_text(bytes);
  };
  std::string text =
      svg_begin({.right = kLeft + kWidth, .bottom = kTop + kHeight, .left = kLeft, .top = kTop},
                ".fits{fill:#3b7dd8;fill-opacity:.45}.large{fill:#c44;fill-opacity:.35}"
                ".front{fill:none;stroke:#222}.best{fill:#e8a200;stroke:#222}");
  for (const CandidatePoint& point : report.points) {
    text += svg_circle(x(static_cast<double>(point.peak_bytes)), y(point.seconds), "2.5",
                       point.fits ? "fits" : "large", point_text(point.seconds, point.peak_bytes));
  }
  for (std::size_t i = 0; i < report.front.size(); ++i) {
    const FoundLayout& found = report.front[i];
    const Priced& priced = found.priced;
    text += svg_circle(x(static_cast<double>(priced.peak_bytes)), y(priced.seconds), "5",
                       i == report.best ? "best" : "front",
                       escaped_html(rules_source(found.layout)) + ": " +
                           point_text(priced.seconds, priced.peak_bytes));
  }
  text += svg_label(kLeft - 6, kTop + 10, "end", seconds_text(scales.time.most()));
  text += svg_label(kLeft - 6, kTop + kHeight, "end", seconds_text(scales.time.least()));
  text += svg_label(kLeft, kTop + kHeight + 18, "start",
                    bytes_text(static_cast<std::int64_t>(scales.memory.least())));
  text += svg_label(kLeft + kWidth, kTop + kHeight + 18, "end",
                    bytes_text(static_cast<std::int64_t>(scales.memory.most())));
  text +=
      svg_label(kLeft + kWidth / 2, kTop + kHeight + 40, "middle",
                "peak memory of a rank (blue: it fits, red: it does not; circles: nothing beats "
                "them in both)");
  return text + svg_label(kLeft, kTop - 12, "start", "predicted time") + "</svg>\n";
}

}  // namespace mtf
