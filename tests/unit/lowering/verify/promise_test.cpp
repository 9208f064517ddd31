// The collectives that a contract may name are those that a program may have.

#include "lowering/verify/promise.h"

#include <algorithm>

#include <catch2/catch.hpp>

namespace mtf {
namespace {

TEST_CASE("a contract names the collectives as the plan does") {
  constexpr std::array kKinds = {
      StepKind::kAllGather, StepKind::kAllToAll,      StepKind::kPermute,
      StepKind::kServe,     StepKind::kHaloExchange,  StepKind::kExclusiveScan,
      StepKind::kAllReduce, StepKind::kReduceScatter, StepKind::kBroadcast,
      StepKind::kReduce,    StepKind::kSortExchange};
  REQUIRE(kKinds.size() == kCollectiveKinds.size());
  for (const StepKind kind : kKinds) {
    CHECK(std::ranges::find(kCollectiveKinds, to_string(kind)) != kCollectiveKinds.end());
  }
}

TEST_CASE("comparisons of a contract") {
  CHECK(holds(2, Relation::kEqual, 2));
  CHECK_FALSE(holds(2, Relation::kNotEqual, 2));
  CHECK_FALSE(holds(2, Relation::kLess, 2));
  CHECK(holds(2, Relation::kLessEqual, 2));
  CHECK_FALSE(holds(2, Relation::kGreater, 2));
  CHECK(holds(2, Relation::kGreaterEqual, 2));
}

}  // namespace
}  // namespace mtf
