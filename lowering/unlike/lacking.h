// What ranks lack of the slices that they are to have, where slices are not all as long: for each
// rank the volume of what it is to have, less that of what it has of it.

#pragma once

#include <cstdint>
#include <vector>

#include "ir/layout/layout.h"
#include "lowering/unlike/rank_sum.h"

namespace mtf {

using Factors = std::vector<RankSum::Factor>;

// A tensor's blocks on a mesh. It has to outlive the sum that it is counted in.
struct Laid {
  const Mesh& mesh;
  const Shape& shape;
  const ValueLayout& layout;
};

// Of a rank's block along a dim.
[[nodiscard]] RankSum::Factor length_along(RankSum& sum, const Laid& value, std::size_t dim);
// Of what two blocks along dims of one size have in common.
[[nodiscard]] RankSum::Factor common_length(RankSum& sum, const Laid& one, std::size_t dim,
                                            const Laid& other, std::size_t other_dim);
// 1 on ranks that hold slices, 0 on others; nothing if all do.
void add_holders(RankSum& sum, const Laid& value, Factors& product);
// Of a rank's slice.
[[nodiscard]] Factors volume_in(RankSum& sum, const Laid& value);

// Adds the elements that ranks lack, times `scale`. requires: `from` and `to` are of one shape.
void add_lacking(RankSum& sum, std::int64_t scale, const Laid& from, const Laid& to);

// Every axis of both lists once.
[[nodiscard]] Axes axes_of_both(const Axes& a, const Axes& b);

}  // namespace mtf
