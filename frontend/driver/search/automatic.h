// The rules of layouts that are `auto`: searched once, and kept for programs, meshes and hardware
// that are the same.

#pragma once

#include <functional>
#include <optional>

#include "frontend/driver/workspace.h"

namespace mtf {

// For ElaborateOptions::search, of the program in a file. Collective where the workspace has a
// world: its first rank searches for all.
[[nodiscard]] std::function<std::optional<Layout>(const Layout&, DiagSink&)> automatic(
    Workspace& workspace, FileId file);

// The same for a session that people type, about the file that it began with.
[[nodiscard]] std::function<std::optional<Layout>(const Layout&, DiagSink&)> automatic_in_session(
    const Options& options);

}  // namespace mtf
