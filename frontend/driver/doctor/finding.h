// What `mtf doctor` looks at. Whatever the machine, a check ends, with a finding.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mtf {

enum class Health : std::uint8_t { kOk, kWarning, kFailure };

struct Finding {
  std::string what;  // "mpirun"
  Health health = Health::kOk;
  std::string found;
  std::string fix;  // a command, or what to do; empty where all is well
};

// MPI: the launcher, what it says to root, how many ranks it starts by itself, and whether ranks
// that are started meet.
[[nodiscard]] Finding check_mpirun();
[[nodiscard]] Finding check_root();
[[nodiscard]] Finding check_ranks();

// The machine.
[[nodiscard]] Finding check_cores();
[[nodiscard]] Finding check_instructions();
[[nodiscard]] Finding check_memory();
[[nodiscard]] Finding check_shared_memory();
[[nodiscard]] Finding check_temporary_folder();
// Where mpirun keeps its files.
[[nodiscard]] std::string temporary_folder();

// What runs that were killed have left; `clean`: and removes it.
[[nodiscard]] Finding check_leftovers(bool clean);

// What `mtf calibrate` keeps.
[[nodiscard]] Finding check_calibration();

}  // namespace mtf
