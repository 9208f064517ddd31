// Layouts that are `auto`: which leave rules open that a search finds.

#pragma once

#include "frontend/elaborate/layouts/layouts.h"

namespace mtf::host {

// Adds the rules that a search finds, where the layout leaves them open and may be used. False:
// there is nothing yet that it could be searched for.
bool find_rules(Reporter& report, const LayoutsAsked& asked, Layout& layout);
// The error that this is where something asks for the layout.
void refuse_unsearched(Reporter& report, const Layout& layout, SourceSpan asking);

}  // namespace mtf::host
