// What operations along a dim share.

#pragma once

#include "ir/op.h"
#include "ir/rewrite/autodiff.h"

namespace mtf {

// All dims are kept, and "over" is scanned; from its end where "reverse" says so.
[[nodiscard]] IterationSpace scan_space(const OpCall& call, Combine combine);

// The elements one place behind, in the order of the scan; 0 behind the last. `by` = -1: before.
[[nodiscard]] ValueId neighbours(GradBuilder& b, ValueId x, const OpArgs& scan,
                                 std::int64_t by = 1);

// y[i] = a[i + 1] y[i + 1] + x[i], against the order of the scan: what of the gradients of all
// results comes down to an element.
[[nodiscard]] ValueId carried_back(GradBuilder& b, ValueId a, ValueId x, const OpArgs& scan);

[[nodiscard]] OpParam scanned_dim_param();
[[nodiscard]] OpParam reverse_param();

}  // namespace mtf
