// Holds a checked program to its `expect`s.

#pragma once

#include "frontend/driver/checked.h"

namespace mtf {

// Under every layout that was checked; a file without layouts, on one rank. Errors go to the
// workspace's diags.
void check_contracts(Workspace& workspace, CheckedProgram& program);

}  // namespace mtf
