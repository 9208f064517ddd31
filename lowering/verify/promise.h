// Whether an SPMD program keeps what `expect` says of it.

#pragma once

#include "ir/layout/expectation.h"
#include "lowering/spmd.h"

namespace mtf {

// Whether a step is one of the collectives that the clause is about. `any_axes`: also one over
// other axes than the clause names.
[[nodiscard]] bool is_counted(const SpmdProgram& program, const Step& step,
                              const Expectation& clause, bool any_axes);

// What the clause is about, per rank and run of the program.
[[nodiscard]] double measured(const SpmdProgram& program, const Expectation& clause);

}  // namespace mtf
