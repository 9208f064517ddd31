// Whether numbers are finite, many at a time.

#pragma once

#include <cstdint>

#include "ir/dtype.h"

namespace mtf {

// Of elements that lie behind each other; whole numbers are.
[[nodiscard]] bool all_finite(DType dtype, const void* data, std::int64_t count);
// Whether none of them is NaN.
[[nodiscard]] bool all_numbers(DType dtype, const void* data, std::int64_t count);

}  // namespace mtf
