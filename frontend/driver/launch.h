// `mtf run -n N`: mpirun starts the ranks, and this process waits for it.
//
// Ctrl-C comes to this process alone, which tells the ranks through mpirun: they end after the step
// in progress, with their reports. Coming from mpirun itself, they would have a second.

#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "frontend/driver/options.h"

namespace mtf {

// The exit status of mpirun, which is that of the first rank; 130 after Ctrl-C.
[[nodiscard]] int start_ranks(const Options& options);

// Starts `options.ranks` of them and waits. What they print to standard output; nullopt: they
// failed, and said why on standard error.
[[nodiscard]] std::optional<std::string> output_of_ranks(const Options& options);

// Makes this process another program; returns where it cannot be started, with `errno`.
void become(std::vector<std::string> line);
// Starts `options.ranks` of them, which read nothing; all that is said goes to a file that is open
// as `output`. The process of mpirun; negative: none, and `obstacle` says why.
[[nodiscard]] pid_t start_mpirun(const Options& options, int output, std::string& obstacle);

// In the process that becomes mpirun: what the environment must say.
void prepare_for_mpirun();

// As a shell has it: of a process that a signal ended, 128 and the signal.
inline constexpr int kSignalled = 128;
[[nodiscard]] int exit_code_of(int wait_status);

}  // namespace mtf
