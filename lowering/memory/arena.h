// Places in one block of memory for slices whose times are known.

#pragma once

#include <cstddef>
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
  std::int32_t spare = -1;  // the spare memory that it is in; -1: it is in the arena

  [[nodiscard]] bool is_in_arena() const { return spare < 0; }
};

// Memory beside the arena that is there all the time, and of no use before a step.
struct SpareMemory {
  std::int64_t bytes = 0;
  std::int32_t until = 0;
};

// Puts blocks that are gone in time into spare memory, the largest first, each into the smallest
// that has room. Returns how many. Blocks are ordered by their first step.
std::size_t place_in_spare(std::span<ArenaBlock> blocks, std::span<const SpareMemory> spare);

// The most that is used of the arena at a step: no placing needs less. Blocks are ordered by their
// first step.
[[nodiscard]] std::int64_t most_at_once(std::span<const ArenaBlock> blocks);

// Sets the offsets in the arena, so that no two blocks overlap that are used at the same step, and
// returns the size of the whole. Blocks are ordered by their first step.
//
// Best fit in the order of time leaves gaps where sizes differ; then the largest blocks are placed
// first, each in the smallest gap between those of its time, and the better of the two is kept.
// (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020: greedy by
// size.)
std::int64_t place(std::span<ArenaBlock> blocks);

}  // namespace mtf
