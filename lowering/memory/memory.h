// The memory plan: every slice gets its place before anything runs.

#pragma once

#include "lowering/spmd.h"

namespace mtf {

// Gives each value that is kept a home: an input's buffer, an output's, or an offset in the arena
// that is free during the value's life. A variable's update is computed in the variable's own
// buffer where the old value is not read any more. Sets `arena_bytes` and the totals' peak.
void plan_memory(SpmdProgram& program);

}  // namespace mtf
