// Which values a program holds at times at which it holds much, its inputs left out.

#pragma once

#include <vector>

#include "ir/program.h"

namespace mtf {

// Some times spread over the program, each with what is held then; unsplit, and in the program's
// order, but that variables are updated as soon as their gradients are there.
[[nodiscard]] std::vector<std::vector<ValueId>> held_values(const Program& program);

}  // namespace mtf
