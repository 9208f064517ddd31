// What ranks are started with has to be the same on all of them: each works out by itself what all
// of them do next.

#pragma once

#include "frontend/driver/devices/checked.h"
#include "frontend/driver/workspace.h"

namespace mtf {

// Whether it is, the program that was read and what it imports included. Collective; an error is
// the same on all ranks.
[[nodiscard]] bool are_started_alike(const Workspace& workspace, const CheckedProgram& program,
                                     FileId main, Communicator& world, DiagSink& diags);

}  // namespace mtf
