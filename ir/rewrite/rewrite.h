// Rewrites that hold on one rank, before any layout is known.

#pragma once

#include "ir/program.h"

namespace mtf {

// Merges equal values, fuses products under a sum into one einsum, folds what moves nothing, and
// drops what nobody reads (effects and updates stay). The result computes the same values.
[[nodiscard]] Program simplify(const Program& program, OpTable ops);

}  // namespace mtf
