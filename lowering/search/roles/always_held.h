// What a rank holds at some moment in whatever order a plan does the steps, its inputs left out.
//
// The moment is that at which a pivot is computed: an operation that runs in a step of its own.
// What the pivot needs is made before, and what is read by something that waits for the pivot is
// there until then. Chains of element-wise operations take no memory for what only they read; but
// no chain has steps both before and behind the pivot. What they may compute again behind it is
// held, or what it is computed from.

#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace mtf {

struct AlwaysHeld {
  // So many bytes, unsplit, of a tensor that is split like this value, or less.
  struct Part {
    ValueId like;
    std::int64_t bytes = 0;
  };
  std::vector<ValueId> across;  // made before the moment, or at it, and read behind it
  // What the pivot reads and makes beside these, and what chains compute things again from, in any
  // layout.
  std::vector<Part> at_once;
};

// Of several pivots of each part of the program, those where most is held in its order.
[[nodiscard]] std::vector<AlwaysHeld> always_held(const Program& program);

}  // namespace mtf
