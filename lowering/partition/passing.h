// How an operation is split. Where partial sums pass through it, it runs where they are: nothing
// moves, and the rules come in when the sum is finished. Else the cheapest way is taken.

#pragma once

#include <optional>

#include "lowering/partition/forms.h"
#include "lowering/partition/split.h"
#include "lowering/plan_cache.h"

namespace mtf {

// nullopt: the operands are no such sums, or may not pass.
[[nodiscard]] std::optional<LoopSplit> passing_split(const SpmdProgram& program, const Forms& forms,
                                                     const Value& value,
                                                     const IterationSpace& space, bool exact);

[[nodiscard]] LoopSplit split_by_rules(MeshPlans& plans, const SpmdProgram& program,
                                       const Forms& forms, const LocalCall& local, ValueId id,
                                       const OpDef* adds);

// Whether it is computed from scalars alone, if from anything; what a loop carries is not.
[[nodiscard]] bool is_made_of_scalars(const Program& source, ValueId id);

}  // namespace mtf
