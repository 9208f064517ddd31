// Joins chains of element-wise kernels, so that each runs in one pass over the elements.

#pragma once

#include "lowering/spmd.h"

namespace mtf {

// A step joins the step that makes one of its operands if both are element-wise, of one local
// shape, and nothing between them reads what the earlier one makes.
void fuse(SpmdProgram& program);

}  // namespace mtf
