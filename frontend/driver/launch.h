// `mtf run -n N`: this process becomes mpirun, which starts the ranks.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/driver/options.h"

namespace mtf {

// The words of the mpirun line. `cores`: of this machine.
[[nodiscard]] std::vector<std::string> mpirun_line(const Options& options,
                                                   const std::string& executable, long cores);

// Returns only if mpirun cannot be started: an exit status, with the reason on standard error.
[[nodiscard]] int start_ranks(const Options& options);

// Starts `options.ranks` of them and waits. What they print to standard output; nullopt: they
// failed, and said why on standard error.
[[nodiscard]] std::optional<std::string> output_of_ranks(const Options& options);

// The cores that this process may use.
[[nodiscard]] long cores_of_this_process();

}  // namespace mtf
