// The moment at which a rank holds the most, and all that it holds then.
//
// Inputs, outputs and the arena are there for the whole run (memory.h); the moment is the first
// step at which the values in the arena take the most, and what they leave of it are gaps between
// them.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lowering/spmd.h"

namespace mtf {

enum class HeldAs : std::uint8_t {
  kArgument,
  kCaptured,
  kParam,
  kState,
  kOutput,
  kCopy,     // of a variable, in a narrow dtype
  kBetween,  // computed on the way, in the arena
  kGap,      // of the arena: between values that do not fit it without one; of no value
};
[[nodiscard]] std::string_view to_string(HeldAs what);  // "param", "value"

struct Held {
  SpmdId value;  // invalid: a gap
  HeldAs what{};
  std::int64_t bytes = 0;  // with what rounds it up to cache lines
  SourceSpan span;         // where the value is made or declared
};

struct Peak {
  std::optional<std::size_t> step;  // in SpmdProgram::steps; nullopt: nothing is in the arena
  SourceSpan span;                  // of what that step computes
  std::vector<Held> held;           // largest first; their bytes add up to totals.peak_bytes
};

[[nodiscard]] Peak peak_of(const SpmdProgram& program);

}  // namespace mtf
