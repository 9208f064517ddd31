// What trips of loops hand on, and may make where it is carried.

#pragma once

#include <vector>

#include "lowering/memory/step_uses.h"

namespace mtf {

// Per value that a trip hands on, what is carried and may be in the same memory: what takes that
// value for the next trip, if nothing reads in the rest of this one what it was before. The step
// that makes the value may read it. Invalid: there is none. The steps are in the order of `uses`.
[[nodiscard]] std::vector<SpmdId> carried_by(const SpmdProgram& program, const StepUses& uses);

}  // namespace mtf
