// Groups of a convolution by number: parts of the summed dim and of the kernel's own.

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/builder.h"
#include "ir/op.h"

namespace mtf {

// Where there are groups: checks that sizes fit, and makes the summed dim of the kernel, which has
// one group's part of it, look as x has it. `x`, `k`: dims that are not the windows'. False after
// an error.
[[nodiscard]] bool fit_groups(const OpCall& call, std::vector<Dim>& x, std::vector<Dim>& k,
                              DiagSink& diags);

// A convolution with a dim for the groups; an invalid id where there are none.
[[nodiscard]] std::optional<ValueId> expand_groups(Builder& b, const OpCall& call,
                                                   std::span<const ValueId> operands);

}  // namespace mtf
