// Layouts that are `auto`: which leave rules open that a search finds.

#pragma once

#include "frontend/elaborate/layouts/layouts.h"

namespace mtf::host {

// Adds the rules that a search finds, where the layout leaves them open and may be used.
void find_rules(Reporter& report, const LayoutsAsked& asked, Layout& layout);

}  // namespace mtf::host
