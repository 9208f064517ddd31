// Places in one block of memory for slices whose times are known.

#pragma once

#include <cstdint>
#include <span>

namespace mtf {

// What a slice of so many bytes takes: slices start on cache lines.
[[nodiscard]] constexpr std::int64_t rounded(std::int64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

// Memory that is used from one step to another, both included.
struct ArenaBlock {
  std::int64_t bytes = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::int64_t offset = 0;
};

// The most that is used at a step: no placing needs less. Blocks are ordered by their first step.
[[nodiscard]] std::int64_t most_at_once(std::span<const ArenaBlock> blocks);

// Sets the offsets, so that no two blocks overlap that are used at the same step, and returns the
// size of the whole. Blocks are ordered by their first step.
//
// Best fit in the order of time leaves gaps where sizes differ; then the largest blocks are placed
// first, each in the smallest gap between those of its time, and the better of the two is kept.
// (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020: greedy by
// size.)
std::int64_t place(std::span<ArenaBlock> blocks);

}  // namespace mtf
