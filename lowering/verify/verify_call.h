// Whether the loops of an operation on slices fit what it reads and what it makes.

#pragma once

#include <span>
#include <string>

#include "lowering/spmd.h"

namespace mtf {

// "" or what is wrong: loops split that have to be whole, operands or a result that do not lie as
// the loops say, a partial sum that it may not read. What the loops leave to be summed is partial
// behind what the operands waited for. `combine`: per operand, how what is partial is joined.
[[nodiscard]] std::string problem_of_call(const SpmdProgram& program, const LocalCall& call,
                                          std::span<const Combine> combine);

}  // namespace mtf
