#include "stdlib/ops/convolution/conv_phases.h"

#include <algorithm>
#include <numeric>

namespace mtf {
namespace {

std::int64_t ceil_of(std::int64_t x, std::int64_t y) {
  return x <= 0 ? 0 : (x + y - 1) / y;
}

}  // namespace

std::vector<Phase> phases_of(const WindowAxis& axis, std::int64_t first, std::int64_t count,
                             bool up) {
  if (!up) {
    return {{.count = count,
             .taps = axis.taps.size,
             .index = first * axis.stride - axis.low,
             .by_place = axis.stride,
             .by_tap = axis.dilation}};
  }
  // Places `stride` apart read the same taps: those for which stride divides i + low - t *
  // dilation.
  std::vector<Phase> phases;
  const std::int64_t shared = std::gcd(axis.dilation, axis.stride);
  for (std::int64_t skip = 0; skip < std::min(axis.stride, count); ++skip) {
    const std::int64_t at = first + skip + axis.low;
    Phase phase{.skip = skip,
                .step = axis.stride,
                .count = ceil_of(count - skip, axis.stride),
                .tap_step = axis.stride / shared,
                .by_tap = -(axis.dilation / shared)};
    while (phase.tap < phase.tap_step && (at - phase.tap * axis.dilation) % axis.stride != 0) {
      ++phase.tap;
    }
    if (phase.tap < phase.tap_step) {
      phase.taps = ceil_of(axis.taps.size - phase.tap, phase.tap_step);
      phase.index = (at - phase.tap * axis.dilation) / axis.stride;
    }
    phases.push_back(phase);
  }
  return phases;
}

}  // namespace mtf
