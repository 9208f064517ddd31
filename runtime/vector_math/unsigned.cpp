#include "runtime/vector_math/unsigned.h"

#include <cstring>
#include <utility>

namespace mtf {
namespace {

template <typename Stored, typename Wide>
std::string widened(std::span<const std::byte> stored, std::int64_t first, std::byte* out) {
  for (std::size_t i = 0; i < stored.size() / sizeof(Stored); ++i) {
    Stored number = 0;
    std::memcpy(&number, stored.data() + i * sizeof(Stored), sizeof(Stored));
    if (!std::in_range<Wide>(number)) {
      return "holds " + std::to_string(number) + " as element " +
             std::to_string(first + static_cast<std::int64_t>(i)) + ", which is beyond i64";
    }
    const auto wide = static_cast<Wide>(number);
    std::memcpy(out + i * sizeof(Wide), &wide, sizeof(Wide));
  }
  return "";
}

}  // namespace

std::string widen_unsigned(std::int64_t bytes, std::span<const std::byte> stored,
                           std::int64_t first, std::byte* out) {
  switch (bytes) {
    case 2:
      return widened<std::uint16_t, std::int32_t>(stored, first, out);
    case 4:
      return widened<std::uint32_t, std::int64_t>(stored, first, out);
    default:
      return widened<std::uint64_t, std::int64_t>(stored, first, out);
  }
}

}  // namespace mtf
