// Sums of products become einsums; what only moves elements on the way is looked through.

#pragma once

#include "ir/program.h"

namespace mtf {

// Part of `simplify`: leaves the products that were fused behind, read by nobody.
[[nodiscard]] Program contract(Program program, OpTable ops);

}  // namespace mtf
