// What is said of an `expect` that does not hold.

#pragma once

#include <optional>

#include "ir/layout/expectation.h"
#include "ir/support/source.h"
#include "lowering/spmd.h"

namespace mtf {

// An error at the clause, with the collectives found and their reasons, or what fills the memory;
// nullopt: the clause holds.
[[nodiscard]] std::optional<Diag> broken(const SpmdProgram& program, const Expectation& clause,
                                         const SourceMap& sources);

}  // namespace mtf
