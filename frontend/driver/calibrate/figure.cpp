#include "frontend/driver/calibrate/figure.h"

#include <algorithm>

namespace mtf {
namespace {

constexpr double kAgreement = 1.2;  // two measurements of the same
constexpr double kOutOfLine = 12;   // times what is usual for few bytes
constexpr double kFalls = 3;        // times less, for more bytes

double least_seconds(const MeasuredCollective& row) {
  return row.seconds.front().second;
}

// The middle one among the kinds of collectives of so many ranks.
double usual_seconds(const Hardware& hardware, std::int64_t ranks) {
  std::vector<double> seconds;
  for (const MeasuredCollective& row : hardware.collectives) {
    if (row.ranks == ranks) {
      seconds.push_back(least_seconds(row));
    }
  }
  std::ranges::sort(seconds);
  return seconds[(seconds.size() - 1) / 2];
}

bool falls(const Curve& seconds) {
  return std::ranges::adjacent_find(seconds, [](const auto& less, const auto& more) {
           return more.second * kFalls < less.second;
         }) != seconds.end();
}

}  // namespace

Figure agreed_figure(const std::function<double()>& measure, int most) {
  std::vector<double> seen = {measure()};
  bool agree = false;
  for (int i = 1; i < most && !agree; ++i) {
    seen.push_back(measure());
    std::ranges::sort(seen);
    agree = seen[1] <= kAgreement * seen[0];
  }
  return {.value = seen.front(), .is_trusted = agree};
}

double without(double part, double seconds) {
  return std::max(seconds - part, seconds / 8);
}

std::string name_of(const MeasuredCollective& row) {
  return row.kind + " of " + std::to_string(row.ranks);
}

std::vector<std::string> implausible_collectives(const Hardware& hardware) {
  std::vector<std::string> found;
  for (const MeasuredCollective& row : hardware.collectives) {
    if (least_seconds(row) > kOutOfLine * usual_seconds(hardware, row.ranks) ||
        falls(row.seconds)) {
      found.push_back(name_of(row));
    }
  }
  return found;
}

}  // namespace mtf
