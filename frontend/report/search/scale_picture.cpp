// `mtf search --scale --svg`: utilization and memory over the number of ranks.

#include <algorithm>

#include "frontend/report/html.h"
#include "frontend/report/quantity.h"
#include "frontend/report/search/chart.h"
#include "frontend/report/search/layout_source.h"
#include "frontend/report/search/scale_report.h"

namespace mtf {
namespace {

constexpr double kWidth = 640;
constexpr double kHeight = 420;
constexpr double kLeft = 80;
constexpr double kTop = 30;
constexpr double kInside = 20;  // from the frame to the first point

double height_of(double share) {
  return kTop + (1 - std::clamp(share, 0.0, 1.0)) * kHeight;
}

std::string title_of(const ScaleReport& report, const ScaleRow& row) {
  const Priced& priced = row.found.priced;
  return escaped_html(count_text(row.ranks, "rank") + ", " + report.dim + " " +
                      count_text(row.size) + ": " + percent_text(row.found.utilization) + ", " +
                      seconds_text(priced.seconds) + ", " + bytes_text(priced.peak_bytes) + ", " +
                      axes_source(row.found.written) + " " + rules_source(row.found.layout));
}

}  // namespace

std::string scale_svg(const ScaleReport& report) {
  Scale ranks;
  for (const ScaleRow& row : report.rows) {
    ranks.add(static_cast<double>(row.ranks));
  }
  const auto x = [&](const ScaleRow& row) {
    return kLeft + kInside + ranks.at(static_cast<double>(row.ranks)) * (kWidth - 2 * kInside);
  };
  std::string text =
      svg_begin({.right = kLeft + kWidth, .bottom = kTop + kHeight, .left = kLeft, .top = kTop},
                ".used{fill:#3b7dd8;stroke:#222}.held{fill:none;stroke:#c44}polyline{fill:none;"
                "stroke-width:2}.line{stroke:#3b7dd8}.dashes{stroke:#c44;stroke-dasharray:5}");
  std::string used;
  std::string held;
  std::string points;
  for (const ScaleRow& row : report.rows) {
    text += svg_label(x(row), kTop + kHeight + 18, "middle", count_text(row.ranks));
    if (!row.obstacle.empty()) {
      continue;
    }
    const double y = height_of(row.found.utilization);
    used += svg_number(x(row)) + "," + svg_number(y) + " ";
    if (report.goal.memory > 0) {
      const double share = static_cast<double>(row.found.priced.peak_bytes) / report.goal.memory;
      held += svg_number(x(row)) + "," + svg_number(height_of(share)) + " ";
      points += svg_circle(x(row), height_of(share), "3", "held",
                           bytes_text(row.found.priced.peak_bytes) + " a rank");
    }
    points += svg_circle(x(row), y, "5", "used", title_of(report, row));
  }
  text += R"(<polyline class="line" points=")" + used + "\"/>\n";
  text += held.empty() ? "" : R"(<polyline class="dashes" points=")" + held + "\"/>\n";
  text += points + svg_label(kLeft - 6, kTop + 10, "end", "100 %") +
          svg_label(kLeft - 6, kTop + kHeight, "end", "0 %");
  text += svg_label(kLeft + kWidth / 2, kTop + kHeight + 40, "middle",
                    escaped_html("ranks; " + report.dim + " grows " + report.grows));
  return text +
         svg_label(kLeft, kTop - 12, "start",
                   "utilization" + std::string(held.empty() ? "" : " (dashes: memory of a rank)")) +
         "</svg>\n";
}

}  // namespace mtf
