// Whether a program fits into this machine, before anything is allocated.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/support/diag.h"
#include "lowering/spmd.h"

namespace mtf {

// Bytes that this process could still get: what the machine and its control group have left.
// nullopt where neither says.
[[nodiscard]] std::optional<std::int64_t> available_memory();

// What is said when `ranks` ranks on this machine need more than is available, of which a tenth is
// left, or than `--max-memory` allows (`is_asked`); nullopt if they fit.
// `what`: the program, as "`train_step`" or "this statement". `in_files`: bytes of what all these
// ranks hold that are pages of files, and so need not stay in memory.
[[nodiscard]] std::optional<Diag> memory_shortage(const SpmdProgram& program, std::string_view what,
                                                  std::int64_t ranks, std::int64_t available,
                                                  std::int64_t in_files = 0, bool is_asked = false);

}  // namespace mtf
