// Joins chains of element-wise kernels, so that each runs in one pass over the elements, and the
// reductions among them, so that each runs in one pass over bands of them (bands.h).

#pragma once

#include "lowering/spmd.h"

namespace mtf {

// A step joins the step that makes one of its operands if both are element-wise and of one local
// shape, or may run in bands, and nothing between them reads what the earlier one makes.
void fuse(SpmdProgram& program);

}  // namespace mtf
