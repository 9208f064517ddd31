// `mtf check --lint`.

#pragma once

#include "frontend/driver/devices/checked.h"

namespace mtf {

// Adds warnings to the workspace's diags, for every layout that was checked and fits.
void lint(Workspace& workspace, std::span<const UnderLayout> layouts);

}  // namespace mtf
