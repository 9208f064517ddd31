// Sizes and ranks are signed 64-bit numbers, as large as those go; the standard library's indices
// are not.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace mtf {

// requires: index >= 0
[[nodiscard]] inline std::size_t at(std::int64_t index) {
  return static_cast<std::size_t>(index);
}

// Beyond 2^63 the exact number is of no use to anybody.
[[nodiscard]] inline std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}

}  // namespace mtf
