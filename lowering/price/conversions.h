// What narrow elements (ir/dtype.h) cost beside the work that is done with them: they are widened
// before it, and its result is rounded.
//
// A profile says it of each dtype, as of operations (Hardware::elements): `cast.from_f16` is the
// seconds in which one element is widened, `cast.to_f16` those in which one is rounded. Most of
// them pass through the nearest cache for it; of bf16 registers do both on the way.

#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "ir/layout/hardware.h"
#include "ir/op.h"

namespace mtf {

struct Conversion {
  DType dtype = DType::kF16;
  std::string_view widening;  // its name in a profile
  std::string_view rounding;
};
inline constexpr std::array kConversions = std::to_array<Conversion>({
    {DType::kBF16, "cast.from_bf16", "cast.to_bf16"},
    {DType::kF16, "cast.from_f16", "cast.to_f16"},
    {DType::kI8, "cast.from_i8", "cast.to_i8"},
    {DType::kI16, "cast.from_i16", "cast.to_i16"},
});

// The figures of what is converted at each point of the loops of the call, one for each tensor; of
// products none: they convert each element once, for many points.
[[nodiscard]] std::vector<std::string_view> conversions_of(const OpCall& call);

// Of one point of the loops, as far as the profile says it.
[[nodiscard]] double conversion_seconds(const std::vector<std::string_view>& conversions,
                                        const Hardware& hardware);

}  // namespace mtf
