// When each value of an SPMD program is made and last read, in numbers of steps.

#pragma once

#include <cstdint>
#include <vector>

#include "lowering/memory/step_uses.h"

namespace mtf {

inline constexpr std::int32_t kProgramEnd = 1 << 30;  // read after the last step

struct LiveRanges {
  std::vector<std::int32_t> made;  // step that makes the value; -1: an input
  std::vector<std::int32_t> last;  // last step that reads it; -1: none
  std::vector<char> kept;          // read by another step than its own
};

// Of the steps in the order of `uses`.
[[nodiscard]] LiveRanges live_ranges_of(const SpmdProgram& program, const StepUses& uses);

}  // namespace mtf
