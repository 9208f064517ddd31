// The order of steps, as far as it matters for memory.
//
// Steps stand where the program computes them, gradients before any update. What ends the life of
// more than it makes (a sum that is scattered into its place, an update that is the last to read a
// gradient) may go right behind the steps that it waits for: then gradients are gone one by one.
// Steps that make single numbers of those that variables hold, as a rate of the step's number, are
// not waited for: they go first. But no update at such a rate goes right behind an all-reduce for
// that: the steps between the two may hide it. Last of all, large products may wait (late.h), for
// which the peak may be higher by a little.

#pragma once

#include "lowering/spmd.h"

namespace mtf {

// Orders the steps so that the peak is least, of the orders that are tried, and plans their memory.
// `rough`: for its price alone, with a peak that leaves out the gaps between places.
void schedule(SpmdProgram& program, bool rough = false);

}  // namespace mtf
