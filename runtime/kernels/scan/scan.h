// Scans along a dim (DimRole::kScanned): element i joins all up to it.
//
// The dim is cut into canonical blocks. Inside one, elements are joined one behind the other; what
// comes before a block is the join of the largest subtrees of the tree of blocks (tree.h) that lie
// before it, the largest first, and is joined to each of its elements. So the ranks that have whole
// subtrees compute the same bits.
//
// Joins of f32, but for extremes, are of f64, and each result is rounded once: a dim of a prime
// size is one block, in which each rounding would be carried on to all elements behind it.

#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/kernel.h"

namespace mtf {

// How digests of parts next to each other become that of both.
struct DigestJoin {
  Combine combine = Combine::kSum;
  DType dtype = DType::kF32;
  Isa isa = Isa::kPortable;
  std::int64_t width = 1;  // numbers of a line
};

// `out` may be either of the others.
void join_digests(const DigestJoin& how, std::int64_t lines, const void* before, const void* behind,
                  void* out);

// Numbers that tell all of a part: its join; of a recurrence, a and b of the whole.
[[nodiscard]] constexpr std::int64_t digest_width(Combine combine) {
  return combine == Combine::kRecurrence ? 2 : 1;
}

// What a scan of the dtype is joined in, and so what a digest is of.
[[nodiscard]] constexpr DType joined_dtype(Combine combine, DType dtype) {
  const bool is_extreme = combine == Combine::kMax || combine == Combine::kMin;
  return dtype == DType::kF32 && !is_extreme ? DType::kF64 : dtype;
}

// The kernel of such an operation, on whole dims and on parts. `exclusive`: an element joins those
// before it, not itself; the first one is what joins nothing.
void scan_kernel(const KernelCall& call, bool exclusive);

}  // namespace mtf
