// Cheap intermediate values are computed again where they are read, instead of being kept.
//
// Gradients read what the forward pass computed, much of it element by element from something that
// is as small or smaller: x - mean, a wide cast of a narrow tensor. Such a value in memory is
// written once and read by each chain that needs it. Computed anew in the registers of those chains
// it takes no memory, and they read what it comes from instead. (XLA calls it rematerialization.)

#pragma once

#include <cstdint>

#include "lowering/spmd.h"

namespace mtf {

// Bytes of a value to those of what it only spreads, which may be kept for it.
inline constexpr std::int64_t kMuchSmaller = 8;

// Of chains that are joined already (fuse.h).
void rematerialize(SpmdProgram& program);

}  // namespace mtf
