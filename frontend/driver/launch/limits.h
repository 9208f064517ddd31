// How many ranks this machine can start at all.

#pragma once

#include <cstdint>
#include <string>

namespace mtf {

struct MachineLimits {
  std::int64_t threads = 0;  // of all processes
  std::int64_t files = 0;    // that one process may have open
};

[[nodiscard]] MachineLimits limits_of_this_machine();
[[nodiscard]] std::int64_t most_ranks(const MachineLimits& limits);

// "", or in one sentence what so many ranks would need and what there is.
[[nodiscard]] std::string too_many_ranks(std::int64_t ranks, const MachineLimits& limits);

}  // namespace mtf
