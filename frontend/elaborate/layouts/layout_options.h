// Options of a layout: gather = again, stream = 4, recompute = none.

#pragma once

#include "frontend/elaborate/context.h"
#include "ir/layout/layout.h"

namespace mtf::host {

void set_options(Reporter& report, const ast::Layout& declared, Layout& layout);

}  // namespace mtf::host
