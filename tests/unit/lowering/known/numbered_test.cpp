// A list has one number, whatever is asked for before it: in the order of a layer before, out of
// it, or more often than is remembered.

#include "lowering/known/numbered.h"

#include <map>

#include <catch2/catch.hpp>

#include "tests/unit/lowering/random_layouts.h"

namespace mtf::tests {

TEST_CASE("equal lists have equal numbers, in the order in which they first came") {
  Random random(7);
  NumberedLists lists;
  std::map<std::vector<std::uint64_t>, Number> known;
  std::vector<std::vector<std::uint64_t>> layer;
  for (std::uint64_t i = 0; i < 40; ++i) {
    layer.push_back({random.below(6), random.below(3)});
  }
  for (int i = 0; i < 3000; ++i) {
    for (const std::vector<std::uint64_t>& usual : layer) {
      const bool differs = random.below(50) == 0;
      const std::vector<std::uint64_t> list =
          differs ? std::vector<std::uint64_t>{random.below(40)} : usual;
      const auto found = known.find(list);
      REQUIRE(lists.find(list).has_value() == (found != known.end()));
      const Number number = lists.number(list);
      REQUIRE(number == (found != known.end() ? found->second : known.size()));
      known.emplace(list, number);
    }
  }
  CHECK(lists.size() == known.size());
}

}  // namespace mtf::tests
