// What a rank holds at some moment in whatever order a plan does the steps, its inputs left out.
//
// The moment is that at which a pivot is computed: an operation that runs in a step of its own.
// What the pivot needs is made before, and what is read by something that waits for the pivot is
// there until then. Chains of element-wise operations take no memory for what only they read; but
// no chain has steps both before and behind the pivot. What they may compute again behind it is
// held, or what it is computed from.

#pragma once

#include <vector>

#include "ir/program.h"

namespace mtf {

struct AlwaysHeld {
  std::vector<ValueId> across;   // made before the moment, or at it, and read behind it
  std::vector<ValueId> at_once;  // what the pivot reads and makes beside these, in any layout
};

// Of several pivots of each part of the program, those where most is held in its order.
[[nodiscard]] std::vector<AlwaysHeld> always_held(const Program& program);

}  // namespace mtf
