// Chains of element-wise calls and reductions, done band by band: all calls on a few rows before
// the next rows, so that what only the chain reads stays in the cache and takes no memory.
//
// The bands run over the leading dims that all tensors computed in the chain have in common, and
// that all its reductions keep: softmax over the columns of a table runs by its rows. A band is to
// each call what the slice of one more rank would be, so nothing changes in the bits. (What
// FlashAttention and the row-wise kernels of PyTorch do by hand, for any chain.)

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "lowering/spmd.h"

namespace mtf {

using Chain = std::vector<const LocalCall*>;  // in order
[[nodiscard]] Chain chain_of(const Step& step);

// Whether the call only joins elements of its one operand, each rank those that it has.
[[nodiscard]] bool is_reduction(const LocalCall& call);

struct ChainExtent {
  SpmdId first;  // what the first call makes
  // Leading dims that the results of all calls have in common, in size and split, and the operands
  // of the reductions as well.
  std::size_t dims = 0;
  double most_bytes = 0;  // of all results and operands; some may be counted several times
};
[[nodiscard]] ChainExtent extent_of(const SpmdProgram& program, const Chain& chain);
// Of one chain behind the other.
[[nodiscard]] ChainExtent joined(const SpmdProgram& program, const ChainExtent& early,
                                 const ChainExtent& late);

// How a rank goes over the bands: one index at a time of the dims before `cut`, so many of that
// one.
struct Bands {
  std::size_t cut = 0;
  std::int64_t rows = 1;  // of the dim `cut`
};

// Bands of the slice `prefix` of the common dims whose tensors stay in the second-level cache where
// one index of all dims takes so many bytes.
[[nodiscard]] Bands bands_of(const Shape& prefix, std::int64_t row_bytes);

// Of all results and of the operands that they have in common with them, for one index of the
// common dims.
[[nodiscard]] std::int64_t row_bytes(const SpmdProgram& program, const Chain& chain,
                                     std::size_t dims);

// Whether the calls of a chain are worth doing so; they are asked for only where that is close.
[[nodiscard]] bool may_run_in_bands(const SpmdProgram& program, const ChainExtent& extent,
                                    const std::function<Chain()>& chain);

}  // namespace mtf
