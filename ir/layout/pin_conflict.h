// An `@` that goes against a rule, in words.

#pragma once

#include "ir/layout/layout.h"

namespace mtf {

// `pin`: of the `@`, by the axes of the layout's mesh; `value`: where the tensor is made.
[[nodiscard]] Diag pin_conflict(const Rule& pin, const Rule& rule, const Layout& layout,
                                SourceSpan value);

}  // namespace mtf
