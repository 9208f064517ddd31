// Along one dim, which windows are parts of one product: all of them where a window is read for
// each index; where an index is read for each window that sees it, those that see it at the same
// taps.

#pragma once

#include <cstdint>
#include <vector>

#include "stdlib/ops/convolution/windows_over.h"

namespace mtf {

// The places of an axis that one product does: every `step`-th position from `skip` on.
struct Phase {
  std::int64_t skip = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
  std::int64_t tap = 0;  // the first
  std::int64_t tap_step = 1;
  std::int64_t taps = 0;
  std::int64_t index = 0;     // of the operand, whole, for the first place and tap
  std::int64_t by_place = 1;  // indices between places, between taps
  std::int64_t by_tap = 1;
};

// Of `count` places from `first` on: windows or, if `up`, what they lie over.
[[nodiscard]] std::vector<Phase> phases_of(const WindowAxis& axis, std::int64_t first,
                                           std::int64_t count, bool up);

}  // namespace mtf
