// Chains that end in sums over their leading dim: a bias's gradient, the statistics of a batch
// norm.
//
// Such a reduction keeps nothing that bands could run along, but what it makes of whole canonical
// blocks is a subtree of its sum. So a chain goes band by band over blocks, and the subtrees are
// joined behind the last: the bits of one pass over all. Its result is there only then, so no
// call of the chain may read it.

#pragma once

#include <cstdint>

#include "lowering/steps/bands.h"

namespace mtf {

// Whether the call reduces the leading dim of its operand, and each rank has whole blocks of all
// that it reduces.
[[nodiscard]] bool reduces_leading_dim(const SpmdProgram& program, const LocalCall& call);

// Bands of the slice `prefix` of the common dims, each of whole blocks to all such reductions of
// the chain, whose tensors stay in the second-level cache, if they can, where one index of all dims
// takes so many bytes. requires: it is not empty.
[[nodiscard]] Bands column_bands(const SpmdProgram& program, const Chain& chain,
                                 const Shape& prefix, std::int64_t row_bytes);

// Whether they do, and leave little to be joined.
[[nodiscard]] bool may_run_in_column_bands(const SpmdProgram& program, const Chain& chain,
                                           const Shape& prefix, std::int64_t row_bytes);

}  // namespace mtf
