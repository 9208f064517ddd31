// Asynchronous all-reduces: those that are in flight while the steps around them are done.
//
// Where an all-reduce leaves its sums in place of their terms, and nobody reads those but it, it
// may start as soon as they are made; and nobody waits for it before the first step that reads a
// sum. So it needs no memory that the plan does not have, and the list of steps stays as it is.
// Gradients are summed up so while those of the layers below are computed.

#pragma once

#include <cstddef>
#include <vector>

#include "lowering/spmd.h"

namespace mtf {

struct AsyncReduce {
  StepRange message;       // its steps: one, or several that go in one message
  std::size_t start = 0;   // before this step
  std::size_t finish = 0;  // before this one, or behind the last
};

// Those behind which some kernel may run, by where they start. None is in flight at a mark of a
// loop.
[[nodiscard]] std::vector<AsyncReduce> async_reduces_of(const SpmdProgram& program);

}  // namespace mtf
