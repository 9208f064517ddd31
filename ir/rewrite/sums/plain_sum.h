// Sums that are no product of matrices: all factors that have no summed dim go outside, and what is
// inside is a plain sum, of a chain of element-wise calls that needs none of them in memory.
//
// The sums that gradients of a norm take (of dy, and of dy times x) are the same ones then, each
// computed once; written out they are a sum for each of scale, shift, mean and variance.

#pragma once

#include <optional>

#include "ir/rewrite/sums/contraction.h"

namespace mtf {

// Of a sum or an einsum of the old program; nullopt: it is a product of matrices, or nothing would
// be gained.
[[nodiscard]] std::optional<ValueId> as_plain_sum(Contraction& state, const Value& value);

}  // namespace mtf
