// Partition: every operation of a global program becomes steps on slices.
//
// The same three steps for each: choose the loop split, reshard the operands to it, finish the
// result. Partial sums are finished where something first needs the whole value, so that sums of
// partial sums share one all-reduce.

#pragma once

#include "lowering/plan_cache.h"
#include "lowering/spmd.h"

namespace mtf {

// `adds`: the operation that adds one tensor up. `gather_again`: what is gathered forward is not
// kept for the backward pass. `plans`: of the program's mesh.
// requires: program.source, mesh, layout and targets are set, and the rest is empty.
void partition(SpmdProgram& program, const OpDef& adds, bool gather_again, MeshPlans& plans);

}  // namespace mtf
