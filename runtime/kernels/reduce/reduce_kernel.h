// Sums, products, maxima and minima over dims of a strided tensor, in an order that is a function
// of the canonical blocks alone: never of memory layout, alignment or instruction set.
//
// A leaf is one block per reduced dim. Its elements, numbered row-major in the order of the reduced
// dims, are dealt to kReduceLanes lanes (number modulo kReduceLanes); each lane starts from the
// identity and goes in increasing order; lanes l and l + 8, then l + 4, + 2, + 1 are combined.
// Leaves are combined in the tree of runtime/kernels/tree.h. A leaf of more than kLongestLeaf
// elements, as a dim of 1,000,003 has, is itself such a tree, of pieces of so many but for the
// last: where a lane is much larger than what is added, that would be lost. Integers wrap.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ir/dtype.h"
#include "ir/op.h"
#include "ir/support/cpu.h"

namespace mtf {

inline constexpr int kReduceLanes = 16;
inline constexpr std::int64_t kLongestLeaf = std::int64_t{512} * kReduceLanes;

enum class ReduceKind : std::uint8_t { kSum, kProd, kMax, kMin };

// How partial results are joined; scans, which join by themselves, have no kind of their own.
[[nodiscard]] ReduceKind kind_of(Combine how);

struct KeptDim {
  std::int64_t extent = 1;
  std::int64_t in = 0;  // element strides
  std::int64_t out = 0;
};

struct ReducedDim {
  std::int64_t extent = 1;
  std::int64_t in = 0;
  std::int64_t blocks = 1;  // canonical blocks on this rank; divides the extent
};

struct Reduction {
  ReduceKind kind = ReduceKind::kSum;
  std::vector<KeptDim> kept;
  std::vector<ReducedDim> reduced;  // in the program's order: first is outermost
};

// How the loops of a reduction run, for any number of runs.
struct ReductionPlan;
[[nodiscard]] std::shared_ptr<const ReductionPlan> plan_reduction(const Reduction& reduction,
                                                                  DType stored);

// `out` must not overlap `in`, which holds elements of the plan's dtype, and `out` of its wide one:
// sums alone are taken of narrow elements, each widened when it is read. An empty reduction gives
// the identity of its kind (maximum: -Inf or the smallest integer).
void reduce(const ReductionPlan& plan, const void* in, void* out);
// The same on as many threads as are worth it: on results or, where they are few, on subtrees of
// the leaves.
void reduce(const ReductionPlan& plan, const void* in, void* out, const Cpu& cpu);

// out[i] = combine(left[i], right[i]) as inside `reduce`: what an all-reduce does with two
// messages. Maximum and minimum are associative and commutative to the bit (+0 above -0, one NaN),
// so only sums and products depend on the order. `out` may be `left` or `right`.
void combine(ReduceKind kind, const float* left, const float* right, std::int64_t n, float* out);
void combine(ReduceKind kind, const double* left, const double* right, std::int64_t n, double* out);
void combine(ReduceKind kind, const std::int32_t* left, const std::int32_t* right, std::int64_t n,
             std::int32_t* out);
void combine(ReduceKind kind, const std::int64_t* left, const std::int64_t* right, std::int64_t n,
             std::int64_t* out);
void combine(ReduceKind kind, const std::uint8_t* left, const std::uint8_t* right, std::int64_t n,
             std::uint8_t* out);

}  // namespace mtf
