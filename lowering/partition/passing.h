// Partial sums that pass through an operation, which then runs where they are: nothing moves, and
// the rules come in when the sum is finished.

#pragma once

#include <optional>

#include "lowering/partition/forms.h"
#include "lowering/partition/split.h"

namespace mtf {

// nullopt: the operands are no such sums, or may not pass.
[[nodiscard]] std::optional<LoopSplit> passing_split(const SpmdProgram& program, const Forms& forms,
                                                     const Value& value,
                                                     const IterationSpace& space, bool exact);

// Whether it is computed from scalars alone, if from anything; what a loop carries is not.
[[nodiscard]] bool is_made_of_scalars(const Program& source, ValueId id);

}  // namespace mtf
