// The words of the mpirun line.

#pragma once

#include <string>
#include <vector>

#include "frontend/driver/options.h"

namespace mtf {

// `slots`: what mpirun starts on this machine unasked.
[[nodiscard]] std::vector<std::string> mpirun_line(const Options& options,
                                                   const std::string& executable, long slots);

// As a shell would need it, for people to read and to paste.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& line);

}  // namespace mtf
