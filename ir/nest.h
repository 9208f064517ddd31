// Sums over several dims, one dim at a time.
//
// A sum over (a, b) that adds the tree of b inside the tree of a has the same bits on every layout
// only while b is not split: ranks that share b hold sums over all of a, which is another tree. Two
// sums, each finished before the next, are exact whatever is split.

#pragma once

#include "ir/program.h"

namespace mtf {

// Part of `simplify`. A sum or product of elements over several dims becomes a chain of one-dim
// ones, the innermost first. A contraction or `scatter_add` over several dims does so over the
// innermost only and sums the others up afterwards, unless that needs a tensor larger than its
// operands: then it stays, and is exact while only its outermost dim is split.
[[nodiscard]] Program nest(const Program& program, OpTable ops);

}  // namespace mtf
