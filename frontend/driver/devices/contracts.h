// Holds a checked program to its `expect`s.

#pragma once

#include <span>

#include "frontend/driver/devices/checked.h"

namespace mtf {

// Under each of `layouts`, unless `diags` has errors of what was built. Names of entries and
// layouts are those of `program`.
void check_contracts(const Workspace& workspace, CheckedProgram& program,
                     std::span<const UnderLayout> layouts, DiagSink& diags);

}  // namespace mtf
