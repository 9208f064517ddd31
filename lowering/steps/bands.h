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

inline constexpr std::size_t kMaxChain =
    24;  // scratch tiles of one pass stay in the first-level cache
inline constexpr std::int64_t kBandBytes = 256LL * 1024;  // a part of the second-level cache
inline constexpr std::int64_t kMostRowBytes = 1024LL * 1024;

using Chain = std::vector<const LocalCall*>;  // in order
[[nodiscard]] Chain chain_of(const Step& step);

// Whether the call only joins elements of its one operand, each rank those that it has.
[[nodiscard]] bool is_reduction(const LocalCall& call);

// Whether it computes elements one by one.
[[nodiscard]] inline bool is_element_wise(const LocalCall& call) {
  return call.op().tile != nullptr && call.result.valid();
}

// Whether the step has such calls only, or is one that may join them.
[[nodiscard]] bool is_chain(const Step& step);

struct ChainExtent {
  SpmdId first;  // what the first call makes, or reduces
  // Leading dims that the results of all calls have in common, in size and split, and the operands
  // of the reductions as well. What reductions of the leading dim make does not count.
  std::size_t dims = 0;
  double most_bytes = 0;     // of all results and operands; some may be counted several times
  bool has_columns = false;  // reductions of the leading dim (column_bands.h)
};
[[nodiscard]] ChainExtent extent_of(const SpmdProgram& program, const Chain& chain);
// Of one chain behind the other.
[[nodiscard]] ChainExtent joined(const SpmdProgram& program, const ChainExtent& early,
                                 const ChainExtent& late);

// How a rank goes over the bands: one index at a time of the dims before `cut`, so many of that
// one.
struct Bands {
  std::size_t cut = 0;
  std::int64_t rows = 1;   // of the dim `cut`
  std::int64_t outer = 1;  // bands one behind the other in dim 0, before `cut`, that go together
};

[[nodiscard]] Shape leading_dims(const Shape& shape, std::size_t count);

// Bands of the slice `prefix` of the common dims whose tensors stay in the second-level cache where
// one index of all dims takes so many bytes.
[[nodiscard]] Bands bands_of(const Shape& prefix, std::int64_t row_bytes);

// Of all results and operands that have the common dims, for one index of these.
[[nodiscard]] std::int64_t row_bytes(const SpmdProgram& program, const Chain& chain,
                                     const ChainExtent& extent);

// Whether the calls of a chain are worth doing so; they are asked for only where that is close.
[[nodiscard]] bool may_run_in_bands(const SpmdProgram& program, const ChainExtent& extent,
                                    const std::function<Chain()>& chain);

}  // namespace mtf
