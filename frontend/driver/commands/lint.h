// `mtf check --lint`.

#pragma once

#include "frontend/driver/devices/checked.h"

namespace mtf {

// Adds warnings to the workspace's diags: of the text, and for every layout that was checked and
// fits.
void lint(Workspace& workspace, const Session& session, std::span<const UnderLayout> layouts);

}  // namespace mtf
