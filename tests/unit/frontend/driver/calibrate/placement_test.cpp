#include "frontend/driver/calibrate/placement.h"

#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/ranks/cores.h"

namespace mtf {
namespace {

// Where each of the ranks is in that way.
std::vector<std::vector<int>> cores_of_ranks(const Placement& placement, std::size_t way,
                                             std::int64_t ranks) {
  std::vector<std::vector<int>> cores;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    placement.take(way, rank);
    cores.push_back(allowed_cores());
  }
  return cores;
}

TEST_CASE("ranks that share cores evenly are measured with neighbours together and apart",
          "[calibrate]") {
  const std::vector<int> all = allowed_cores();
  const auto count = static_cast<std::int64_t>(all.size());
  if (count < 2) {
    WARN("one core only: neighbours cannot be apart");
    return;
  }
  {
    const Placement placement(2 * count);
    REQUIRE(placement.ways() == 2);
    for (std::size_t way = 0; way < placement.ways(); ++way) {
      const auto cores = cores_of_ranks(placement, way, 2 * count);
      CHECK((cores[0] == cores[1]) == (way == 0));
      CHECK(std::set(cores.begin(), cores.end()).size() == all.size());
    }
  }
  CHECK(allowed_cores() == all);
}

TEST_CASE("where each rank has a core, or cores are not shared evenly, the system places them",
          "[calibrate]") {
  const std::vector<int> all = allowed_cores();
  const auto count = static_cast<std::int64_t>(all.size());
  for (const std::int64_t ranks : {std::int64_t{1}, count, 2 * count + 1}) {
    const Placement placement(ranks);
    if (count > 1) {
      CHECK(placement.ways() == 1);
      CHECK(cores_of_ranks(placement, 0, 1).front() == all);
    }
  }
}

}  // namespace
}  // namespace mtf
