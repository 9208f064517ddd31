// Streams: operands that are gathered for one product pass through it in pieces.
//
// A loop is split over time as it is split over ranks elsewhere: the product runs once for each
// part of the loop, and of a gathered operand that has this loop only two parts are there, the one
// that is worked on and the one that is on its way. Of SUMMA's two operands, both gathered along
// the dim that is summed, that is the published bound on memory; of one operand it is the looped
// collective einsum (references: Wang et al., ASPLOS 2023).
//
// Ranks do not take the parts in the same order. Of n parts, a power of two, a rank works on part
// t ^ s at time t, where s is made of its coordinates along the gathered axes: the ranks of a group
// are at parts of different owners, as in Cannon's algorithm, so that nobody sends to all at once
// and each begins with what it has. Whatever s is, parts that follow each other are siblings in the
// tree of a sum (runtime/EXACT.md), so the bits are those of the whole product.

#pragma once

#include <cstdint>

#include "lowering/spmd.h"

namespace mtf {

// Lets gathered operands with one reader pass in up to `pieces` pieces, where that takes no more
// memory; other gathers are told why not. Before memory is planned.
void stream(SpmdProgram& program, std::int64_t pieces, bool exact);

}  // namespace mtf
