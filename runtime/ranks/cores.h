// The cores of a machine, divided among the ranks that run on it.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace mtf {

struct Cores {
  int threads = 1;         // of a rank: as many as each rank of the machine has cores for
  std::vector<int> own;    // so many that no other rank has; or none, where ranks share theirs
  bool has_spare = false;  // whether the rank may also run on a core that is nobody's
};

// `allowed`: per rank of the machine, the cores that it may run on, in order; a launcher may have
// bound each to its own (`mpirun --map-by slot:PE=8`), several to a socket, or none.
[[nodiscard]] Cores cores_of(std::span<const std::vector<int>> allowed, std::size_t rank);

// Those that this process may run on, in order.
[[nodiscard]] std::vector<int> allowed_cores();

// With as many threads as MTF_THREADS asks for, if it does.
[[nodiscard]] Cores with_asked_threads(Cores cores);

}  // namespace mtf
