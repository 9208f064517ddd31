#include "frontend/report/search/chart.h"

#include <algorithm>
#include <cmath>

#include "ir/support/number.h"

namespace mtf {

void Scale::add(double value) {
  least_ = std::min(least_, value);
  most_ = std::max(most_, value);
}

double Scale::at(double value) const {
  return most_ > least_ ? std::log(value / least_) / std::log(most_ / least_) : 0.5;
}

std::string svg_number(double value) {
  return fixed(value, 1);
}

std::string svg_begin(const Frame2d& frame, std::string_view styles) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 520\" "
         "font-family=\"sans-serif\" font-size=\"12\">\n<style>" +
         std::string(styles) + "</style>\n<rect x=\"" + svg_number(frame.left) + "\" y=\"" +
         svg_number(frame.top) + "\" width=\"" + svg_number(frame.right - frame.left) +
         "\" height=\"" + svg_number(frame.bottom - frame.top) +
         "\" fill=\"none\" stroke=\"#888\"/>\n";
}

std::string svg_circle(double x, double y, std::string_view radius, std::string_view kind,
                       const std::string& title) {
  return "<circle class=\"" + std::string(kind) + "\" cx=\"" + svg_number(x) + "\" cy=\"" +
         svg_number(y) + "\" r=\"" + std::string(radius) + "\"><title>" + title +
         "</title></circle>\n";
}

std::string svg_label(double x, double y, std::string_view anchor, const std::string& text) {
  return "<text x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\" text-anchor=\"" +
         std::string(anchor) + "\">" + text + "</text>\n";
}

}  // namespace mtf
