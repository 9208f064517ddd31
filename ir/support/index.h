// Sizes and ranks are signed 64-bit numbers; the standard library's indices are not.

#pragma once

#include <cstddef>
#include <cstdint>

namespace mtf {

// requires: index >= 0
[[nodiscard]] inline std::size_t at(std::int64_t index) {
  return static_cast<std::size_t>(index);
}

}  // namespace mtf
