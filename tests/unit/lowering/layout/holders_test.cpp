// Diagonals: the same slices on the same ranks under several spellings.

#include "lowering/layout/holders.h"

#include <catch2/catch.hpp>

namespace mtf {
namespace {

constexpr AxisId kX = 0;
constexpr AxisId kY = 1;
constexpr AxisId kZ = 2;

// A dim split over `splits`, where the coordinates along `held` are the same.
ValueLayout diagonal(AxisId splits, AxisId held) {
  return {.dims = {{splits}}, .partial = {}, .where = {{.axis = held, .same = splits}}};
}

}  // namespace

TEST_CASE("a diagonal is turned to the other one of its axes") {
  CHECK(turned_to(diagonal(kY, kZ), kZ) == diagonal(kZ, kY));
  CHECK(turned_to(turned_to(diagonal(kY, kZ), kZ), kY) == diagonal(kY, kZ));
}

TEST_CASE("what is compared with the axis that splits follows where the diagonal turns") {
  ValueLayout layout = diagonal(kX, kY);
  layout.where.push_back({.axis = kZ, .same = kX});
  ValueLayout turned = diagonal(kY, kX);
  turned.where.push_back({.axis = kZ, .same = kY});
  CHECK(turned_to(layout, kY) == turned);
}

TEST_CASE("the normal spelling splits over the first axis of a diagonal in the mesh") {
  CHECK(normal(diagonal(kZ, kY)) == diagonal(kY, kZ));
  CHECK(normal(diagonal(kY, kZ)) == diagonal(kY, kZ));
  ValueLayout fixed = diagonal(kZ, kX);
  fixed.where.push_back({.axis = kY, .at = 1});
  ValueLayout first = diagonal(kX, kZ);
  first.where.insert(first.where.begin(), {.axis = kY, .at = 1});
  CHECK(normal(fixed) == first);
}

TEST_CASE("holders that give to others along the axis that splits leave the other one to split") {
  const ValueLayout over_z{.dims = {{kY}}, .partial = {}};
  CHECK(spread_over(diagonal(kY, kZ), kZ) == over_z);
  const ValueLayout over_y{.dims = {{kZ}}, .partial = {}};
  CHECK(spread_over(diagonal(kY, kZ), kY) == over_y);
}

}  // namespace mtf
