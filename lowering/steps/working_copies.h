// Working copies: variables as products read them in a narrow dtype, from one run to the next.
//
// A training step of mixed precision keeps its variables wide, and multiplies by narrow copies of
// them (Micikevicius et al., "Mixed Precision Training", 2018, section 3.1). Cast at the beginning
// of each run, they would be read from far memory; so the copy for the next run is made in the
// chain that computes what the variable is updated to, which has its elements in registers.

#pragma once

#include "lowering/spmd.h"

namespace mtf {

// Whether a step casts a variable that the program updates to a narrow dtype: without, no copy is
// kept.
[[nodiscard]] bool casts_updated(const SpmdProgram& program);

// Takes the casts of variables that the program updates out of its steps, where the new value is an
// element-wise chain's. Whether there was one. Not in a program with loops.
bool keep_working_copies(SpmdProgram& program);

}  // namespace mtf
