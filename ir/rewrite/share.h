// Equal shapes and arguments of a program in one place in memory.
//
// Layers repeat each other's: where equal ones have the same memory, they are compared, and known
// again, by that.

#pragma once

#include <cstddef>

#include "ir/program.h"

namespace mtf {

void share_contents(Program& program);

// Equal to the bit: -0.0 is another number than 0.0, and a NaN the same as a NaN.
[[nodiscard]] bool same_arguments(const OpArgs& a, const OpArgs& b);
// Of a part of what tells them apart; of the same ones it is equal.
[[nodiscard]] std::size_t content_hash(const OpArgs& args);

inline void mix_hash(std::size_t& hash, std::size_t part) {
  constexpr std::size_t kOdd = 0x9E37'79B9'7F4A'7C15U;
  hash = (hash ^ part) * kOdd;
  hash ^= hash >> 29U;
}

}  // namespace mtf
