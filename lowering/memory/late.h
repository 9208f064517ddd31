// Steps that are done late: right before the only step that reads what they make.
//
// A product that makes more than it ends the life of, as the gradient of a table by those of its
// logits, takes less memory while its operands wait than while its result does; and where it is
// read by what is element by element, it can be handed to that as it is made.

#pragma once

#include <cstddef>
#include <vector>

#include "lowering/memory/step_uses.h"

namespace mtf {

// The present numbers of the steps in the order in which those are late that take less memory so.
[[nodiscard]] std::vector<std::size_t> late_order(const SpmdProgram& program, const StepUses& uses);

}  // namespace mtf
