// A product with a one_hot that is summed along its dim takes one element of each line: a gather,
// for which no one_hot is made.

#pragma once

#include <optional>
#include <span>

#include "ir/builder.h"

namespace mtf {

// The product of `factors`, summed over the dims that `to` lacks, if one of them is a one_hot whose
// dim is summed and in others. nullopt: none is.
[[nodiscard]] std::optional<ValueId> picked(Builder& b, std::span<const ValueId> factors,
                                            const Shape& to);
// The same of two narrow factors, in the wide dtype: nothing is rounded on the way.
[[nodiscard]] std::optional<ValueId> picked_wide(Builder& b, std::span<const ValueId> factors,
                                                 const Shape& to);

}  // namespace mtf
