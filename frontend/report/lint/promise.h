// Where the promise of equal bits ends (runtime/EXACT.md): sums of floats that a layout splits in a
// way that the canonical tree does not have.

#pragma once

#include <string>
#include <vector>

#include "lowering/spmd.h"

namespace mtf {

struct Ending {
  std::string text;  // "batch is summed and split 3 ways over rows, not a power of two"
  SourceSpan span;   // the operation that sums
  // If another order of the dims would keep it: the one that is split, and the one before it.
  std::string split = {};
  std::string outer = {};
};

// In the order of the program; empty where the promise holds.
[[nodiscard]] std::vector<Ending> endings_of(const SpmdProgram& program);

}  // namespace mtf
