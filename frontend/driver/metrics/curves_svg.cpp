// Curves as an SVG: one frame below the other, each with its own scales.

#include <algorithm>

#include "frontend/driver/metrics/curves.h"
#include "frontend/report/html.h"
#include "frontend/report/quantity.h"
#include "frontend/report/search/chart.h"
#include "ir/support/number.h"

namespace mtf {
namespace {

constexpr double kCurveWidth = 640;
constexpr double kCurveHeight = 200;
constexpr double kCurveLeft = 90;
constexpr double kCurveTop = 50;
constexpr double kBetweenCurves = 60;
constexpr int kSvgDigits = 4;

// Of as many points as columns can show: in each the least and the most.
std::vector<std::pair<std::int64_t, double>> thinned_curve(const Curve2d& curve) {
  constexpr std::size_t kMost = 2'000;
  if (curve.points.size() <= kMost) {
    return curve.points;
  }
  std::vector<std::pair<std::int64_t, double>> points;
  const std::size_t each = (curve.points.size() + kMost / 2 - 1) / (kMost / 2);
  const auto by_value = [](const auto& point) { return point.second; };
  for (std::size_t i = 0; i < curve.points.size(); i += each) {
    const auto begin = curve.points.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end =
        curve.points.begin() + static_cast<std::ptrdiff_t>(std::min(i + each, curve.points.size()));
    const auto [least, most] = std::minmax_element(
        begin, end, [&](const auto& a, const auto& b) { return by_value(a) < by_value(b); });
    points.push_back(*std::min(least, most));
    points.push_back(*std::max(least, most));
  }
  return points;
}

std::string curve_frame(const Curve2d& curve, double top) {
  const CurveBounds bounds = bounds_of(curve);
  std::string line;
  for (const auto& [step, value] : thinned_curve(curve)) {
    line += svg_number(kCurveLeft + bounds.across(step) * kCurveWidth) + "," +
            svg_number(top + (1 - bounds.up(value)) * kCurveHeight) + " ";
  }
  return "<rect x=\"" + svg_number(kCurveLeft) + "\" y=\"" + svg_number(top) + "\" width=\"" +
         svg_number(kCurveWidth) + "\" height=\"" + svg_number(kCurveHeight) +
         "\" fill=\"none\" stroke=\"#888\"/>\n<polyline points=\"" + line +
         "\" fill=\"none\" stroke=\"#3b7dd8\" stroke-width=\"1.5\"/>\n" +
         svg_label(kCurveLeft, top - 6, "start",
                   escaped_html(curve.name) + ": " +
                       significant(curve.points.back().second, kSvgDigits)) +
         svg_label(kCurveLeft - 6, top + 10, "end", significant(bounds.top, kSvgDigits)) +
         svg_label(kCurveLeft - 6, top + kCurveHeight, "end",
                   significant(bounds.bottom, kSvgDigits)) +
         svg_label(kCurveLeft, top + kCurveHeight + 16, "start",
                   count_text(static_cast<std::int64_t>(bounds.left))) +
         svg_label(kCurveLeft + kCurveWidth, top + kCurveHeight + 16, "end",
                   "step " + count_text(static_cast<std::int64_t>(bounds.right)));
}

}  // namespace

std::string curves_svg(const Curves& curves, std::string_view title) {
  std::string frames;
  double top = kCurveTop;
  for (const Curve2d& curve : curves.curves) {
    if (!curve.is_rate) {
      frames += curve_frame(curve, top);
      top += kCurveHeight + kBetweenCurves;
    }
  }
  return R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 )" + svg_number(top) +
         R"(" font-family="sans-serif" font-size="12"><rect width="760" height=")" +
         svg_number(top) + R"(" fill="#fff"/>)" + "\n" +
         svg_label(kCurveLeft, 22, "start", escaped_html(title)) + frames + "</svg>\n";
}

}  // namespace mtf
