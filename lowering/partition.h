// Partition: every operation of a global program becomes steps on slices.
//
// The same three steps for each: choose the loop split, reshard the operands to it, finish the
// result. Pending sums are finished where something first needs the whole value, so that sums of
// pending sums share one all-reduce.

#pragma once

#include <span>

#include "lowering/spmd.h"

namespace mtf {

// `exact`: pending sums are not added up before they are finished.
// `targets`: the layout that the rules give each value of the program.
// requires: program.source, mesh and layout are set, and the rest is empty.
void partition(SpmdProgram& program, const Layout& layout, std::span<const ValueLayout> targets,
               bool exact);

}  // namespace mtf
