// The part of a program that can be run ahead: what it reads from files, at places that follow from
// counters alone.
//
// The program's own list of steps stays whole. What a reader made ahead is put where the reader
// would have put it; all else, as the places, is worked out once more where it stands.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/execute/tensor.h"

namespace mtf {

// Of a whole program, or of the trips of one of its loops.
struct AheadPart {
  std::size_t before = 0;  // the step at which its counters are known: 0, or a trip's mark
  std::vector<std::size_t> readers;  // steps of the whole that read a file; one per output
  SpmdProgram program;  // what they need, and they; ids of values are those of the whole
};

// A scalar that tells runs, or trips, apart.
[[nodiscard]] bool is_counter(const SpmdValue& value);

// `inputs`: of a run of the program. Alike on all ranks.
[[nodiscard]] std::vector<AheadPart> ahead_parts(const SpmdProgram& program,
                                                 std::span<const RankTensor* const> inputs);

}  // namespace mtf
