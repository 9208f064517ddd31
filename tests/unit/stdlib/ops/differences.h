// Gradients against central finite differences in f64.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/stdlib/ops/evaluate.h"

namespace mtf::tests {

[[nodiscard]] std::vector<double> drawn(std::int64_t n, double low, double high, unsigned seed);

[[nodiscard]] ValueId sum_of(Sketch& s, ValueId x);

// A scalar that depends on every element of `x`, each with another weight.
[[nodiscard]] ValueId weighted(Sketch& s, ValueId x, unsigned seed);

// The sum of all gradients with respect to the first `count` inputs, weighted: what second
// derivatives are checked on. Invalid: nothing flows to them.
[[nodiscard]] ValueId gradient_sum(Sketch& s, ValueId of, std::size_t count);

// d of / d each element of the first `count` inputs: "" or the first one that is not as
// differences say.
[[nodiscard]] std::string gradient_problem(Sketch& s, ValueId of, std::size_t count);

}  // namespace mtf::tests
