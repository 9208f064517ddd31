// Gradients by values that a definition may have looked through (WholeCall).
//
// sum(x * hot) is recorded as elements of x, on which `hot` has no influence; where a gradient by
// `hot` is asked for, it is that of the product. All other gradients stay those of what was
// recorded.

#pragma once

#include <span>
#include <vector>

#include "ir/builder.h"

namespace mtf::host {

// As `gradients`.
[[nodiscard]] std::vector<ValueId> gradients_by_whole_calls(Builder& builder, ValueId of,
                                                            std::span<const ValueId> targets);

}  // namespace mtf::host
