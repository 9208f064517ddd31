// Parts of pictures: scales, and what an SVG is made of.

#pragma once

#include <limits>
#include <string>
#include <string_view>

namespace mtf {

// A logarithmic scale from the least to the most of what it is told of.
class Scale {
 public:
  void add(double value);
  [[nodiscard]] double at(double value) const;  // 0 … 1
  [[nodiscard]] double least() const { return least_; }
  [[nodiscard]] double most() const { return most_; }

 private:
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = 0;
};

struct Frame2d {
  double right = 0;
  double bottom = 0;
  double left = 0;
  double top = 0;
};

// Up to the frame of what is drawn; `</svg>` is the caller's.
[[nodiscard]] std::string svg_begin(const Frame2d& frame, std::string_view styles);
[[nodiscard]] std::string svg_circle(double x, double y, std::string_view radius,
                                     std::string_view kind, const std::string& title);
// `anchor`: start, middle or end.
[[nodiscard]] std::string svg_label(double x, double y, std::string_view anchor,
                                    const std::string& text);
[[nodiscard]] std::string svg_number(double value);

}  // namespace mtf
