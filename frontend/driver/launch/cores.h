// The cores of this machine that a process may use, and how many ranks mpirun starts on them.

#pragma once

#include <iosfwd>

namespace mtf {

// The cores that this process may use.
[[nodiscard]] long cores_of_this_process();

// One for each core, however many threads that has. 0: /proc/cpuinfo does not say.
[[nodiscard]] long cores_in(std::istream& cpuinfo);
[[nodiscard]] long slots_of_this_process();

}  // namespace mtf
