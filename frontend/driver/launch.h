// `mtf run -n N`: this process becomes mpirun, which starts the ranks.

#pragma once

#include <string>
#include <vector>

#include "frontend/driver/options.h"

namespace mtf {

// The words of the mpirun line. `cores`: of this machine.
[[nodiscard]] std::vector<std::string> mpirun_line(const Options& options,
                                                   const std::string& executable, long cores);

// Returns only if mpirun cannot be started: an exit status, with the reason on standard error.
[[nodiscard]] int start_ranks(const Options& options);

}  // namespace mtf
