// What the launcher says about the ranks of this run; known without starting MPI.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace mtf {

struct Launch {
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  std::int64_t ranks_here = 1;  // on this machine
};

// nullopt: this process was not started by mpirun.
[[nodiscard]] std::optional<Launch> launched();

// The ranks besides this one where all of them are on this machine; otherwise none, as it is not
// known which are.
[[nodiscard]] std::vector<std::int64_t> others_here(std::int64_t rank);

// Sets what Open MPI reads when it starts, unless the user has: shared memory alone when all ranks
// are on one machine (saves 200 ms), and waiting ranks that yield when they outnumber the cores.
void prepare_environment(const Launch& launch);

}  // namespace mtf
