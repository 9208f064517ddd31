// The rules of layouts that are `auto`: searched once, and kept for programs, meshes and hardware
// that are the same.

#pragma once

#include <functional>

#include "frontend/driver/workspace.h"

namespace mtf {

// Of the program in a file. Collective where the workspace has a world: its first rank searches for
// all.
[[nodiscard]] FindLayout automatic(Workspace& workspace, FileId file);

// The same for a session that people type: its program, as it is by then, and where it is told of
// what was found. Nothing, and no error: the program has nothing to search for.
struct SearchedSession {
  std::function<void(Workspace&)> open;  // sets the workspace's sources and program
  std::function<void(const std::string&)> tell;
};
[[nodiscard]] FindLayout automatic_in_session(const Options& options, SearchedSession session);

}  // namespace mtf
