// Whether a program fits into this machine, before anything is allocated.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/support/diag.h"
#include "lowering/spmd.h"

namespace mtf {

struct AvailableMemory {
  std::int64_t bytes = 0;
  bool is_limited = false;  // by `ulimit -v`, of which less is left than of the machine
};

// What as many processes like this one could still get here, all together: what the machine, its
// control group and the limits of the processes have left. nullopt where none of them says.
[[nodiscard]] std::optional<AvailableMemory> available_memory(std::int64_t processes = 1);

// What is asked of the memory of this machine.
struct MemoryNeed {
  std::string_view what;       // the program, as "`train_step`" or "this statement"
  std::int64_t ranks = 1;      // on this machine
  std::int64_t held = 0;       // bytes of each of them that the program does not use
  std::int64_t compared = 0;   // bytes of what was kept to compare it, counted where it is asked
  std::int64_t in_files = 0;   // bytes of all of them that are pages of files, and need not stay
  std::int64_t available = 0;  // with what is held
  bool is_asked = false;       // by `--max-memory`; else a tenth of it is left
  bool is_limited = false;     // by `ulimit -v`
};

// What is said when the program needs more than there is; nullopt if it fits.
[[nodiscard]] std::optional<Diag> memory_shortage(const SpmdProgram& program,
                                                  const MemoryNeed& need);

}  // namespace mtf
