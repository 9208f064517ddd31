#include "ir/layout/hardware.h"

#include <algorithm>
#include <cmath>

namespace mtf {

double value_at(const Curve& curve, double size) {
  if (size <= curve.front().first) {
    return curve.front().second;
  }
  if (size >= curve.back().first) {
    return curve.back().second;
  }
  const auto above = std::ranges::upper_bound(curve, size, {}, &std::pair<double, double>::first);
  const auto below = std::prev(above);
  const double share = std::log(size / below->first) / std::log(above->first / below->first);
  return below->second + share * (above->second - below->second);
}

double Hardware::seconds_of_element(std::string_view op) const {
  const auto found = std::ranges::find(elements, op, &std::pair<std::string, double>::first);
  return found == elements.end() ? 0 : found->second;
}

const Hardware& HardwareChoice::for_ranks(std::int64_t ranks) const {
  const Hardware* chosen = &profiles.front();
  for (const Hardware& profile : profiles) {
    chosen = profile.ranks <= ranks ? &profile : chosen;
  }
  return *chosen;
}

}  // namespace mtf
