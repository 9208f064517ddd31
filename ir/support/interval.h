// Consecutive indices: of a dim, of the elements of a buffer, of tiles.

#pragma once

#include <algorithm>
#include <cstdint>

namespace mtf {

// The indices begin .. begin + extent - 1.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t extent = 0;

  [[nodiscard]] constexpr std::int64_t end() const { return begin + extent; }
  [[nodiscard]] constexpr bool empty() const { return extent == 0; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// requires: begin <= end.
[[nodiscard]] constexpr Interval from_to(std::int64_t begin, std::int64_t end) {
  return {.begin = begin, .extent = end - begin};
}

// The part of `a` that lies in `b`; empty where they do not meet.
[[nodiscard]] constexpr Interval intersection(Interval a, Interval b) {
  const std::int64_t begin = std::max(a.begin, b.begin);
  return from_to(begin, std::max(begin, std::min(a.end(), b.end())));
}

}  // namespace mtf
