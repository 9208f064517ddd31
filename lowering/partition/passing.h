// How an operation is split. Where partial sums pass through it, it runs where they are: nothing
// moves, and the rules come in when the sum is finished. A long one that only a cast to a narrower
// dtype reads is scattered, cast, and gathered as what it is then. Else the cheapest way is taken.

#pragma once

#include <optional>

#include "lowering/partition/forms.h"
#include "lowering/partition/split/split.h"
#include "lowering/plan_cache.h"

namespace mtf {

// Of an operation on unfinished sums. nullopt: they may not pass, and are finished as the rules
// say.
[[nodiscard]] std::optional<LoopSplit> waiting_split(const SpmdProgram& program, const Forms& forms,
                                                     ValueId id, const IterationSpace& space,
                                                     bool exact);

// The operation of a value, yet without a split of its loops.
struct UnsplitCall {
  Shared<SplitCall> call;
  std::optional<Number> number = {};  // of equal ones (lowering/known/)
};
[[nodiscard]] UnsplitCall known_call(MeshPlans& plans, const Program& source, ValueId id);

// Found once for all operations of that number between equal layouts; without a number in `fresh`.
[[nodiscard]] const KnownSplit& split_by_rules(MeshPlans& plans, const SpmdProgram& program,
                                               Forms& forms, ValueId id, const UnsplitCall& call,
                                               const OpDef* adds, KnownSplit& fresh);

// Whether it is computed from scalars alone, if from anything; what a loop carries is not.
[[nodiscard]] bool is_made_of_scalars(const Program& source, ValueId id);
// How such a value is made in a layout, yet without operands and result. nullopt: it is not of this
// kind, or the kernel cannot split it so.
[[nodiscard]] std::optional<LocalCall> made_of_scalars(const SpmdProgram& program, ValueId id,
                                                       const ValueLayout& to);

// Of an operation that moves elements of a value, the form of it that they are best sent from to
// where the result is to have them. Invalid: to gather the value moves no more.
[[nodiscard]] SpmdId source_of_elements(MeshPlans& plans, const SpmdProgram& program,
                                        const Forms& forms, ValueId operand, const SplitCall& call,
                                        const ValueLayout& to);

}  // namespace mtf
