// The programs of the tree as they are, given to every command: what a sanitizer says of them is
// wrong with mtf itself, before any fuzzing.

#pragma once

#include <string>
#include <vector>

#include "tests/fuzz/mutate.h"

namespace fuzz {

// Each program under each of its layouts and under none. `only`: the only command; empty: all.
[[nodiscard]] std::vector<Mutant> unchanged(const std::vector<Seed>& seeds,
                                            const std::string& only);

}  // namespace fuzz
