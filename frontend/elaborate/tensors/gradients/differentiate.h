// Gradients of what the unit under construction has computed, as `grad` and `minimize` ask for
// them.

#pragma once

#include <optional>
#include <vector>

#include "frontend/elaborate/tensors/units.h"

namespace mtf::host {

// A tensor to differentiate by: the values it has had in this unit.
struct Target {
  Operand operand;
  std::vector<ValueId> versions;
};

// Nullopt after an error: it is a scalar of floats.
[[nodiscard]] std::optional<ValueId> loss_of(Units& units, const Operand& loss);

// The gradient by the latest version of each target that the loss depends on; invalid if by none.
// No element at all: after an error.
[[nodiscard]] std::vector<ValueId> gradients_by(Units& units, Limits& limits, ValueId loss,
                                                const std::vector<Target>& targets,
                                                SourceSpan span);

}  // namespace mtf::host
