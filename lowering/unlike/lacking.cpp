#include "lowering/unlike/lacking.h"

#include <algorithm>

namespace mtf {
namespace {

bool overlaps(const Laid& value, std::size_t dim) {
  const std::vector<Reach>& reach = value.layout.reach;
  return std::ranges::find(reach, dim, &Reach::dim) != reach.end();
}

}  // namespace

Axes axes_of_both(const Axes& a, const Axes& b) {
  Axes all = a;
  for (const AxisId axis : b) {
    if (!has(all, axis)) {
      all.push_back(axis);
    }
  }
  return all;
}

RankSum::Factor length_along(RankSum& sum, const Laid& value, std::size_t dim) {
  const Axes& axes = value.layout.dims[dim];
  if (!overlaps(value, dim)) {
    return sum.block(value.shape[dim].size, axes);
  }
  return sum.count(axes, [value, dim](const Coordinates& at) {
    return block_at(value.shape, value.layout, value.mesh, at, dim).extent;
  });
}

// Where one list of axes goes on from the other, blocks lie within each other.
RankSum::Factor common_length(RankSum& sum, const Laid& one, std::size_t dim, const Laid& other,
                              std::size_t other_dim) {
  const Axes& first = one.layout.dims[dim];
  const Axes& second = other.layout.dims[other_dim];
  const auto [f, s] = std::ranges::mismatch(first, second);
  if (!overlaps(one, dim) && !overlaps(other, other_dim) &&
      (f == first.end() || s == second.end())) {
    return sum.block(one.shape[dim].size, f == first.end() ? second : first);
  }
  return sum.count(
      axes_of_both(first, second), [one, dim, other, other_dim](const Coordinates& at) {
        return intersection(block_at(one.shape, one.layout, one.mesh, at, dim),
                            block_at(other.shape, other.layout, other.mesh, at, other_dim))
            .extent;
      });
}

void add_holders(RankSum& sum, const Laid& value, Factors& product) {
  for (const Condition& condition : value.layout.where) {
    Axes axes = {condition.axis};
    if (condition.same) {
      axes.push_back(*condition.same);
    }
    product.push_back(sum.count(axes, [condition](const Coordinates& at) -> std::int64_t {
      const std::int64_t wanted = condition.same ? at[*condition.same] : condition.at;
      return at[condition.axis] == wanted ? 1 : 0;
    }));
  }
}

// A scalar is on every rank.
Factors volume_in(RankSum& sum, const Laid& value) {
  Factors product;
  for (std::size_t d = 0; d < value.shape.rank(); ++d) {
    product.push_back(length_along(sum, value, d));
  }
  if (!product.empty()) {
    add_holders(sum, value, product);
  }
  return product;
}

void add_lacking(RankSum& sum, std::int64_t scale, const Laid& from, const Laid& to) {
  Factors own;
  for (std::size_t d = 0; d < to.shape.rank(); ++d) {
    own.push_back(common_length(sum, to, d, from, d));
  }
  if (!own.empty()) {
    add_holders(sum, from, own);
    add_holders(sum, to, own);
  }
  sum.add(scale, volume_in(sum, to));
  sum.add(-scale, std::move(own));
}

}  // namespace mtf
