// Which libraries this process has loaded, for `mtf --version`: each asked by the file that wraps
// it.

#pragma once

#include <string>

namespace mtf {

[[nodiscard]] std::string mpi_version();  // "Open MPI 4.1.4"
[[nodiscard]] std::string onednn_version();
[[nodiscard]] std::string eigen_version();  // headers only: as compiled

}  // namespace mtf
