// Processes of this machine, as /proc shows them. What has gone meanwhile is `X`, and has nothing.

#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace mtf {

[[nodiscard]] std::vector<pid_t> all_processes();
[[nodiscard]] std::vector<pid_t> children_of(pid_t process);
// A letter: R runs, S sleeps, D waits for a device, T is stopped, t by a debugger, Z and X have
// ended.
[[nodiscard]] char state_of(pid_t process);
// As `waitpid` would give it, of one that has ended (Z).
[[nodiscard]] int wait_status_of(pid_t process);
// The file that it runs.
[[nodiscard]] std::string program_of(pid_t process);
// "NAME=VALUE" between zeros, the first one included; empty for the processes of others.
[[nodiscard]] std::string environment_of(pid_t process);

}  // namespace mtf
