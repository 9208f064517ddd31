// The memory plan: every slice gets its place before anything runs.

#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "lowering/memory/step_uses.h"

namespace mtf {

struct MemoryPlan {
  struct Place {
    Home home = Home::kNone;
    std::int64_t offset = 0;
    std::int64_t within = 0;  // kOutput
  };
  std::vector<Place> places;  // per value
  std::int64_t arena_bytes = 0;
  std::int64_t peak_bytes = 0;
  bool is_below = false;  // as was asked; otherwise the rest may be anything
};

struct MemoryGoal {
  // What the peak is to be less than.
  std::int64_t below = std::numeric_limits<std::int64_t>::max();
  // No offsets: of the arena what is in use at once, without the gaps that places would leave.
  bool rough = false;
};

// Gives each value that is kept a home: an input's buffer, an output's, or an offset in the arena
// that is free during the value's life. A variable's update is computed in the variable's own
// buffer where the old value is not read any more. Outputs' buffers are there for the whole run:
// until an output is made, others are in its buffer. The steps are in the order of `uses`.
[[nodiscard]] MemoryPlan plan_memory(const SpmdProgram& program, const StepUses& uses,
                                     const MemoryGoal& goal = {});

}  // namespace mtf
