// Sums over several dims, one dim after the other, as rewrites make them (ir/nest.h).

#pragma once

#include <vector>

#include "ir/program.h"

namespace mtf {

// Per value that begins one: the value, and the sums that follow, each the only reader of the one
// before; all but the last are values that nobody wrote.
[[nodiscard]] std::vector<std::vector<ValueId>> sum_chains(const Program& program);

// A tensor laid out as what it is summed up to; its other dims keep what that leaves of their own.
[[nodiscard]] Target lying_as(const Target& sum, const Shape& of_sum, const Target& own,
                              const Shape& shape);

}  // namespace mtf
