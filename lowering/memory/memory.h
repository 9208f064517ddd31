// The memory plan: every slice gets its place before anything runs.

#pragma once

#include <cstdint>
#include <limits>

#include "lowering/spmd.h"

namespace mtf {

// Gives each value that is kept a home: an input's buffer, an output's, or an offset in the arena
// that is free during the value's life. A variable's update is computed in the variable's own
// buffer where the old value is not read any more. Sets `arena_bytes` and the totals' peak.
// False: the peak is `below` or more; then homes and offsets may be any.
bool plan_memory(SpmdProgram& program,
                 std::int64_t below = std::numeric_limits<std::int64_t>::max());

}  // namespace mtf
