// The option `--hardware`.

#pragma once

#include <cstdint>
#include <string_view>

#include "frontend/driver/workspace.h"
#include "ir/layout/hardware.h"

namespace mtf {

// Whether it names a profile, one that is measured if it is this machine. False: an error.
[[nodiscard]] bool knows_hardware(Workspace& workspace, Session& session);

// `--hardware`, or what the mesh is of, or this machine if it was measured.
[[nodiscard]] Hardware hardware_for(const Options& options, Session& session,
                                    std::string_view profile, std::int64_t ranks);

}  // namespace mtf
