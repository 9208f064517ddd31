// Layouts of which only some ranks hold a slice. On a diagonal the axes are as good as each other:
// blocks of a dim split over `y` where y == z are its blocks over `z`.

#pragma once

#include "ir/layout/layout.h"

namespace mtf {

// The same slices on the same ranks, `axis` of a diagonal splitting the dim instead of the one that
// does. requires: it has a condition, with an axis.
[[nodiscard]] ValueLayout turned_to(ValueLayout layout, AxisId axis);
// One spelling for all: of the axes of a diagonal the first in the mesh splits the dim.
[[nodiscard]] ValueLayout normal(ValueLayout layout);
// Once the holders gave their slices to the others along `axis`. requires: it belongs to a
// condition.
[[nodiscard]] ValueLayout spread_over(ValueLayout layout, AxisId axis);

// The condition on an axis, or null.
[[nodiscard]] const Condition* condition_on(const ValueLayout& layout, AxisId axis);
// Whether some condition compares with the coordinate along `axis`.
[[nodiscard]] bool is_compared(const ValueLayout& layout, AxisId axis);

}  // namespace mtf
