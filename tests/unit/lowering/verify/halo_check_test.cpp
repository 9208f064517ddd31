// Whether ranks find all that a border needs in their group is told by axes: as a look at every
// rank tells it.

#include <string>

#include <catch2/catch.hpp>

#include "lowering/verify/verify_move.h"
#include "tests/unit/lowering/random_layouts.h"

namespace mtf::tests {
namespace {

// Whether the slices of its group cover that of each rank once.
bool covers_all(const MoveCheck& move, const Axes& group) {
  for (std::int64_t rank = 0; rank < move.mesh.ranks(); ++rank) {
    const Slice mine = slice_of(move.shape, move.to, move.mesh, rank);
    std::int64_t found = 0;
    std::vector<Slice> parts;
    for (const std::int64_t member : move.mesh.group_of(rank, group)) {
      const Slice part = intersection(slice_of(move.shape, move.from, move.mesh, member), mine);
      for (const Slice& other : parts) {
        if (volume_of(intersection(other, part)) > 0) {
          return false;
        }
      }
      found += volume_of(part);
      parts.push_back(part);
    }
    if (found != volume_of(mine)) {
      return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("drawn moves to overlapping blocks are right or wrong as a look at every rank says") {
  Random random(6);
  int right = 0;
  for (int i = 0; i < 4000; ++i) {
    Mesh mesh{.name = "m", .uneven = random.below(2) == 0};
    for (std::size_t a = 0; a < 3; ++a) {
      mesh.axes.push_back({.name = std::string(1, static_cast<char>('a' + a)), .size = 2});
    }
    const Shape shape({{"p", 8}, {"q", 16}});
    const ValueLayout from = random.layout(shape, mesh);
    ValueLayout to = random.below(2) == 0 ? from : random.layout(shape, mesh);
    const std::size_t dim = random.below(2);
    to.reach.push_back({.dim = dim,
                        .size = shape[dim].size,
                        .offset = -static_cast<std::int64_t>(random.below(3)),
                        .length = static_cast<std::int64_t>(1 + random.below(4))});
    Axes group;
    for (AxisId axis = 0; axis < 3; ++axis) {
      if (from.uses(axis) ? random.below(4) > 0 : random.below(8) == 0) {
        group.push_back(axis);
      }
    }
    const bool is_slice = random.below(4) == 0;
    const MoveCheck move{.mesh = mesh,
                         .shape = shape,
                         .kind = is_slice ? StepKind::kSlice : StepKind::kHaloExchange,
                         .axes = group,
                         .from = from,
                         .to = to};
    const bool is_right = covers_all(move, is_slice ? Axes{} : group);
    CHECK(problem_of_move(move).empty() == is_right);
    right += is_right ? 1 : 0;
  }
  CHECK(right > 400);
  CHECK(right < 3600);
}

}  // namespace mtf::tests
