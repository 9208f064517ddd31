// The curves of a file of metrics, and pictures of them.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mtf {

struct Curve2d {
  std::string name;  // "loss"; of several runs and entries "run/entry/loss"
  std::vector<std::pair<std::int64_t, double>> points;  // steps and values, as they were written
  bool is_rate = false;                                 // how fast it goes, not how well
  // The step behind the last point whose value is infinite or NaN, if there is one.
  std::optional<std::int64_t> not_finite = {};
};

// What its points span, and where in that a point is, 0 … 1; where they span nothing, 0.
struct CurveBounds {
  double left = 0;
  double right = 0;
  double bottom = 0;
  double top = 0;

  [[nodiscard]] double across(std::int64_t step) const;
  [[nodiscard]] double up(double value) const;
};
[[nodiscard]] CurveBounds bounds_of(const Curve2d& curve);  // requires: it has points

struct Curves {
  std::vector<Curve2d> curves;  // in the order in which they begin
  std::string problem;          // "" or why the file cannot be read
  std::string found;            // without curves: what the file holds instead
};

// Of x.jsonl, x.csv, or a folder with event files of TensorBoard in it or below it. What is not
// whole is left out, as is what is no number.
[[nodiscard]] Curves read_curves(const std::string& path);

// What grows or is written anew has another.
struct MetricsStamp {
  std::uintmax_t bytes = 0;
  std::filesystem::file_time_type written = std::filesystem::file_time_type::min();

  friend bool operator==(const MetricsStamp&, const MetricsStamp&) = default;
};
// nullopt: it is not there.
[[nodiscard]] std::optional<MetricsStamp> metrics_stamp(const std::string& path);

// What is said where there are none.
inline constexpr std::string_view kWritesMetrics =
    "`mtf run PROGRAM --metrics FILE` writes a line for each step that trains, and for "
    "`metric(\"name\", value)`";

struct CurveStyle {
  std::size_t columns = 80;
  std::optional<std::size_t> rows = {};  // of a screen that all is to be on
  bool ascii = false;
};
// A picture of each curve that is no rate, as far as the rows go, and a line of all last values;
// without curves, what the file holds, and what writes metrics.
[[nodiscard]] std::string curves_text(const Curves& curves, const CurveStyle& style);
// An SVG that needs nothing else.
[[nodiscard]] std::string curves_svg(const Curves& curves, std::string_view title);

}  // namespace mtf
