// Contracts: what `expect` says, with its bounds evaluated.

#pragma once

#include "frontend/elaborate/context.h"

namespace mtf::host {

// In a function the contract is about that function as a unit of its own, not where it is called by
// another; at top level about the entry that it names.
void run_expect(Context& c, const ast::Expect& expect, SourceSpan span);

}  // namespace mtf::host
