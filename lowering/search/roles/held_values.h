// Which values a program holds at times at which it holds much, its inputs left out: in its order,
// and in any.

#pragma once

#include <vector>

#include "ir/program.h"

namespace mtf {

// Some times spread over the program, each with what is held then; unsplit, and in the program's
// order, but that variables are updated as soon as their gradients are there.
[[nodiscard]] std::vector<std::vector<ValueId>> held_values(const Program& program);

// Values that are held together in whatever order a plan does the steps: each is made before one of
// them is, or is that one, and is read by something that waits for that one. Only what no plan
// leaves out: results and operands of matrix products. Nothing of programs with loops.
[[nodiscard]] std::vector<std::vector<ValueId>> always_held(const Program& program);

}  // namespace mtf
