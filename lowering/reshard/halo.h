// What ranks lack of what their slices of a value read of another one, or of the same with a
// border around: the elements that a halo exchange sends, and between whom.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lowering/spmd.h"
#include "lowering/unlike/rank_sum.h"

namespace mtf {

struct Halo {
  const Mesh& mesh;
  std::span<const MovedDim> reads;  // per dim of the operand, how the result reads it
  const Shape& operand;
  const ValueLayout& from;  // of the operand; all ranks hold slices, and no sum is partial
  const Shape& result;
  const ValueLayout& to;
};

// The axes along which elements change ranks, in mesh order.
[[nodiscard]] Axes halo_axes(const Halo& halo);
// Adds what ranks receive, times `scale`. requires: what the halo refers to outlives the sum.
void add_received(RankSum& sum, std::int64_t scale, const Halo& halo);
// Elements, by the rank that receives most.
[[nodiscard]] std::int64_t most_halo_received(const Halo& halo);

// Those of a step.
[[nodiscard]] Axes halo_axes(const SpmdProgram& program, const Step& step);

// That of a step, whose reads are `reads`.
[[nodiscard]] Halo halo_of(const SpmdProgram& program, const Step& step,
                           std::span<const MovedDim> reads);
// How a tensor reads itself.
[[nodiscard]] std::vector<MovedDim> reads_of_itself(const Shape& shape);
// How the step's result reads its operand.
[[nodiscard]] std::vector<MovedDim> reads_of(const SpmdProgram& program, const Step& step);

}  // namespace mtf
