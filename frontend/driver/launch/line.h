// The words of the mpirun line.

#pragma once

#include <string>
#include <vector>

#include "frontend/driver/options.h"

namespace mtf {

// `slots`: what mpirun starts on this machine unasked. `joined`: a rank's standard error is its
// standard output; mpirun reads the two by turns, and would mix up their order.
[[nodiscard]] std::vector<std::string> mpirun_line(const Options& options,
                                                   const std::string& executable, long slots,
                                                   bool joined = false);

// As a shell would need it, for people to read and to paste.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& line);

}  // namespace mtf
