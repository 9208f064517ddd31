// Random programs give one rank's bits where only some ranks hold tensors: on a diagonal of the
// mesh, or at one coordinate of an axis.

#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/layouts/programs/generate.h"

namespace mtf::tests {
namespace {

// With `*` behind some rules; inferred or not, gathered again or not.
Layout any_kept(Layout layout, std::mt19937_64& random) {
  for (Rule& rule : layout.rules) {
    rule.rest = !rule.axes.empty() && random() % 3 == 0;
  }
  layout.infer = random() % 4 == 0;
  layout.gather_again = random() % 2 == 0;
  return layout;
}

bool is_partly_held(const Layout& layout) {
  return std::ranges::any_of(layout.rules, [](const Rule& rule) { return !rule.where.empty(); });
}

TEST_CASE("random programs give one rank's bits where only some ranks hold tensors") {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    const Program program = random_program(seed);
    const std::optional<Outcome> one = run_under({&program, 1}, one_rank());
    REQUIRE(one);
    std::mt19937_64 random(seed);
    for (const std::vector<std::int64_t>& sizes :
         {std::vector<std::int64_t>{2, 2}, {4, 2}, {2, 2, 2}, {4, 4}}) {
      for (int tries = 0; tries < 4; ++tries) {
        const Layout layout = any_kept(
            partly_held(random_layout({&program, 1}, mesh_of(sizes), random), random), random);
        const std::optional<Outcome> many =
            is_partly_held(layout) ? run_under({&program, 1}, layout) : std::nullopt;
        if (!many) {
          continue;  // `*` does not divide, or a dim is split over the axis of the condition
        }
        ++compared;
        INFO("seed " << seed << ", " << to_string(layout) << (layout.infer ? " infer" : "") << "\n"
                     << mtf::to_string(program));
        CHECK(many->problem == "");
        CHECK((same_values(*one, *many) || !many->promised));
      }
    }
  }
  CHECK(compared > 500);
}

}  // namespace
}  // namespace mtf::tests
