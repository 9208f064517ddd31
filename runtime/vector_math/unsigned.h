// Unsigned integers of 16 bits or more, which files have and mtf has not, as wider signed ones.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ir/dtype.h"

namespace mtf {

// What unsigned numbers of so many bytes are read as: i32 those of 2, i64 those of 4 and of 8.
[[nodiscard]] constexpr DType widened_unsigned(std::int64_t bytes) {
  return bytes == 2 ? DType::kI32 : DType::kI64;
}

// Numbers of `bytes` each, of which `first` is the index of the first one, as elements of that
// dtype. "" or which of them is beyond it.
[[nodiscard]] std::string widen_unsigned(std::int64_t bytes, std::span<const std::byte> stored,
                                         std::int64_t first, std::byte* out);

}  // namespace mtf
