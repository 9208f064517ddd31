// Flights: all-reduces that are on their way while the steps around them are done.
//
// Where an all-reduce leaves its sums in place of their terms, and nobody reads those but it, it
// may begin as soon as they are made; and nobody waits for it before the first step that reads a
// sum. So a flight needs no memory that the plan does not have, and the list of steps stays as it
// is. Gradients are summed up so while those of the layers below are computed.

#pragma once

#include <cstddef>
#include <vector>

#include "lowering/spmd.h"

namespace mtf {

struct Flight {
  StepRange message;       // its steps: one, or several that go in one message
  std::size_t begins = 0;  // before this step, and
  std::size_t lands = 0;   // before this one, or behind the last
};

// Those behind which some kernel may run, by where they begin. None is on its way at a mark of a
// loop.
[[nodiscard]] std::vector<Flight> flights_of(const SpmdProgram& program);

}  // namespace mtf
