// The SPMD program as it is, for people who work on mtf: `--emit sharded` and `--emit spmd`.

#pragma once

#include <string>

#include "lowering/spmd.h"

namespace mtf {

// Each value with its layout: "  w = f32[io 32, hidden 128] as [io, hidden: cols]"
[[nodiscard]] std::string values_text(const SpmdProgram& program);

// Each step with the places of its slices in memory.
[[nodiscard]] std::string steps_text(const SpmdProgram& program);

}  // namespace mtf
