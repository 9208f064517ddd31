#include "runtime/kernels/finite.h"

#include <algorithm>

namespace mtf {
namespace {

// The largest of the words but for their signs: that of a NaN, of an infinity, or of a number.
template <typename Word>
Word largest(const void* data, std::int64_t count) {
  const auto* words = static_cast<const Word*>(data);
  Word most = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    most = std::max(most, static_cast<Word>(words[i] << 1U));
  }
  return most;
}

// How the largest compares with that of an infinity.
template <typename Compare>
bool holds(DType dtype, const void* data, std::int64_t count, const Compare& compare) {
  switch (dtype) {
    case DType::kF32:
      return compare(largest<std::uint32_t>(data, count), 0xFF00'0000U);
    case DType::kF64:
      return compare(largest<std::uint64_t>(data, count), 0xFFE0'0000'0000'0000U);
    case DType::kBF16:
      return compare(largest<std::uint16_t>(data, count), 0xFF00U);
    case DType::kF16:
      return compare(largest<std::uint16_t>(data, count), 0xF800U);
    default:
      return true;
  }
}

}  // namespace

bool all_finite(DType dtype, const void* data, std::int64_t count) {
  return holds(dtype, data, count, [](auto most, auto infinity) { return most < infinity; });
}

bool all_numbers(DType dtype, const void* data, std::int64_t count) {
  return holds(dtype, data, count, [](auto most, auto infinity) { return most <= infinity; });
}

}  // namespace mtf
