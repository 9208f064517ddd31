// Sums of contractions over the same dims become one contraction.
//
// x·u + y·v adds two sums. Were each split over an axis, one all-reduce should serve both, but
// adding partial sums first is another order than one rank's. So the terms become one contraction
// of several products, which adds them inside of each canonical block: one sum, exact on every
// layout. Its operands stay as they are, each where it lies.

#pragma once

#include <string>
#include <string_view>

#include "ir/program.h"

namespace mtf {

// No rule can name a dim that a rewrite made, as the blocks of a summed one.
[[nodiscard]] inline bool may_be_split(std::string_view dim) {
  return !dim.starts_with('+');
}

// Of the loop over one block of a summed dim, where the result keeps the blocks.
[[nodiscard]] inline std::string name_inside(std::string_view dim) {
  return "+" + std::string(dim);
}

// Part of `simplify`. requires: no value is read by nobody.
[[nodiscard]] Program join_terms(Program program, OpTable ops);

}  // namespace mtf
