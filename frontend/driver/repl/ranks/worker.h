// A rank of a session: does what it is told until the session ends.

#pragma once

#include <string>

#include "runtime/ranks/mpi/launch.h"

namespace mtf {

// What tells a process that mpirun has started, in its environment, where its session listens.
inline constexpr const char* kSessionSocket = "MTF_SESSION_SOCKET";

// The status to exit with.
[[nodiscard]] int serve_session(const std::string& socket, const Launch& launch);

}  // namespace mtf
