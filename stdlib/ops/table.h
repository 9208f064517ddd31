// All operations, in the order of the list in stdlib/ops/ops.h. Apart from the list, so that a new
// operation recompiles nothing that only looks operations up.

#pragma once

#include "ir/op.h"

namespace mtf {

[[nodiscard]] OpTable op_table();

}  // namespace mtf
