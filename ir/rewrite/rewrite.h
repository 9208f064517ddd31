// Rewrites that hold on one rank, before any layout is known.

#pragma once

#include "ir/program.h"

namespace mtf {

// Merges equal values, fuses products under a sum into one einsum, folds what moves nothing, and
// drops what nobody reads (effects and updates stay). The result computes the same values.
[[nodiscard]] Program simplify(Program program, OpTable ops);

// Whether `recompute` blocks compute anything again.
[[nodiscard]] bool recomputes(const Program& program);
// Of a simplified program: what they compute is kept for the gradients instead. The same values, as
// nothing else is rewritten anew.
void keep_recomputed(Program& simplified);

}  // namespace mtf
