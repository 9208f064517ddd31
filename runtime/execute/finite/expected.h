// Values that may be infinite or NaN on purpose: gradients of which the program itself asks whether
// they are finite, as where a loss is scaled, and what they are computed from on the way back.

#pragma once

#include <vector>

#include "ir/program.h"

namespace mtf {

// Per value. What is computed forwards is none, whoever asks: there the first one that is wrong is
// still the one to tell of.
[[nodiscard]] std::vector<bool> expected_to_overflow(const Program& program);

}  // namespace mtf
