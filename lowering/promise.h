// Whether an SPMD program keeps what `expect` says of it.

#pragma once

#include <optional>
#include <string>

#include "ir/expectation.h"
#include "lowering/spmd.h"

namespace mtf {

// What the clause is about, per rank and run of the program.
[[nodiscard]] double measured(const SpmdProgram& program, const Expectation& clause);

// An error at the clause, with the collectives found and their reasons, or what fills the memory;
// nullopt: the clause holds.
[[nodiscard]] std::optional<Diag> broken(const SpmdProgram& program, const Expectation& clause,
                                         const SourceMap& sources);

}  // namespace mtf
