// The branch that a `where` does not take stays out of gradients.
//
// where(x > 0, log(x), 0) passes 0 to log(x) where x is 0, but the chain rule goes on with 0 * 1/x,
// which is NaN. So a gradient carries with it where it was taken, and what operations multiply it
// by is chosen there alone. That goes as far as it costs little: on through element-wise
// operations, moves and sums; through a contraction while no dim of the condition is contracted.

#pragma once

#include "ir/rewrite/autodiff.h"

namespace mtf {

// `gradient`, which the rule of `result` gives for its operand i, chosen where `taken` holds if
// anything in the rule could have been infinite or NaN elsewhere. `taken` may be invalid.
[[nodiscard]] ValueId guarded(Builder& builder, ValueId result, std::size_t i, ValueId gradient,
                              ValueId taken);

// Where the gradient of operand i is taken, given where that of `result` is; invalid: everywhere,
// or not known.
[[nodiscard]] ValueId taken_below(Builder& builder, Adjoints& adjoints, ValueId result,
                                  std::size_t i, ValueId taken);

}  // namespace mtf
