// The messages of a sort over ranks, each of which has a sorted part of a dim.
//
// In a round ranks swap their parts in pairs and merge them; the one of the pair keeps the lower
// half, the other the upper half. The pairs are those of Batcher's merge exchange, a network for
// any number of ranks (Knuth, The Art of Computer Programming 3, algorithm 5.2.2M; that parts may
// stand for elements is exercise 5.3.4-38). Parts are all as long as the longest, with numbers
// behind all others in place of what a rank lacks; where parts are not all of one length, ranks
// then send each other what lies elsewhere.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowering/spmd.h"

namespace mtf {

struct SortRound {
  std::optional<std::int64_t> partner;  // by the place along the axes; nullopt: the rank is idle
  bool keeps_low = false;
};

// Those of the rank at `place` of so many.
[[nodiscard]] std::vector<SortRound> sort_rounds(std::int64_t ranks, std::int64_t place);

// Messages that it receives; and that the rank receives which receives most.
[[nodiscard]] std::int64_t sort_messages(std::int64_t ranks, std::int64_t place);
[[nodiscard]] std::int64_t most_sort_messages(std::int64_t ranks);

// After the rounds, `count` elements of the part of the rank at `place`, from its `begin` on,
// belong at `at` of another's part.
struct SortedRun {
  std::int64_t place = 0;
  std::int64_t begin = 0;
  std::int64_t at = 0;
  std::int64_t count = 0;
};

// Of which the part of a rank of the mesh is made, of a dim of that size.
[[nodiscard]] std::vector<SortedRun> settled_from(const Mesh& mesh, std::int64_t size,
                                                  const Axes& axes, std::int64_t rank);
// Elements of a line that it is sent, with what stands for those that ranks lack, and that the rank
// is sent which is sent most.
[[nodiscard]] std::int64_t sort_received(const Mesh& mesh, std::int64_t size, const Axes& axes,
                                         std::int64_t rank);
[[nodiscard]] std::int64_t most_sort_received(const Mesh& mesh, std::int64_t size,
                                              const Axes& axes);

// The dim whose parts the step sorts.
[[nodiscard]] LoopDim sorted_dim_of(const SpmdProgram& program, const Step& step);

}  // namespace mtf
