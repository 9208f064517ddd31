// Lists that a program makes: bounded in length and in depth, whatever is in them, because what is
// done with a list goes through all of it.

#pragma once

#include "frontend/elaborate/context.h"

namespace mtf::host {

// Unknown after an error.
[[nodiscard]] Value bounded_list(Reporter& report, Values items, SourceSpan span);

}  // namespace mtf::host
