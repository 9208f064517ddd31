// Which gradients would have to flow from one trip of a loop to the one before it.

#pragma once

#include <span>

#include "ir/builder.h"

namespace mtf {

// The last carried value through which `of` depends on a target: what came in, or what a trip made
// of it. Nobody knows how many trips there are, so gradients do not flow there. Invalid: none.
[[nodiscard]] ValueId carried_between(const Builder& builder, ValueId of,
                                      std::span<const ValueId> targets);

}  // namespace mtf
