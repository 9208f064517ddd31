// Random programs give one rank's bits where tensors rest split further than they are used (`*`),
// where dims without a rule follow the others (`infer`), and where both meet; with and without
// gathered operands that pass in pieces (`stream`).

#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/layouts/programs/generate.h"

namespace mtf::tests {
namespace {

TEST_CASE("random programs give one rank's bits under refined and inferred layouts") {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Program program = random_program(seed);
    const std::optional<Outcome> one = run_under({&program, 1}, one_rank());
    REQUIRE(one);
    std::mt19937_64 random(seed);
    for (const std::vector<std::int64_t>& sizes :
         {std::vector<std::int64_t>{4}, {2, 2}, {4, 2}, {2, 2, 2}}) {
      for (int tries = 0; tries < 3; ++tries) {
        const Layout layout = refined_layout({&program, 1}, mesh_of(sizes), random);
        const std::optional<Outcome> many = run_under({&program, 1}, layout);
        if (!many) {
          continue;  // `*` does not divide
        }
        ++compared;
        INFO("seed " << seed << ", " << to_string(layout) << (layout.infer ? " infer" : "") << "\n"
                     << mtf::to_string(program));
        CHECK(many->problem == "");
        CHECK((same_values(*one, *many) || !many->promised));
      }
    }
  }
  CHECK(compared > 800);
}

}  // namespace
}  // namespace mtf::tests
