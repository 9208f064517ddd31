// Uneven layouts: random programs on meshes that divide nothing, some larger than a dim. Sums are
// taken in another order there, so floats are compared with a tolerance.

#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/layouts/programs/generate.h"

namespace mtf::tests {
namespace {

TEST_CASE("random programs compute the same under uneven layouts") {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Program program = random_program(seed);
    const std::optional<Outcome> one = run_under({&program, 1}, one_rank());
    REQUIRE(one);
    std::mt19937_64 random(seed);
    for (const std::vector<std::int64_t>& sizes :
         {std::vector<std::int64_t>{3}, {5}, {2, 3}, {7}, {3, 2, 2}}) {
      Mesh mesh = mesh_of(sizes);
      mesh.uneven = true;
      const std::vector<Layout> layouts = layouts_of(program, mesh);
      for (int tries = 0; tries < 3; ++tries) {
        Layout layout = layouts[random() % layouts.size()];
        layout.stream = 1 + static_cast<std::int64_t>(random() % 5);
        const std::optional<Outcome> many = run_under({&program, 1}, layout);
        if (!many) {
          continue;  // an axis twice in one tensor
        }
        ++compared;
        INFO("seed " << seed << ", " << to_string(layout) << "\n" << mtf::to_string(program));
        CHECK(many->problem == "");
        CHECK(wrong_tensor(*one, *many) == "");
      }
    }
  }
  CHECK(compared > 300);
}

// Its blocks were not those of the reshape's loops, so it was gathered on the way, as if it were
// finished, and finished twice.
TEST_CASE("a reshape of a partial sum finishes it once") {
  std::mt19937_64 random(1);
  int pending = 0;
  for (int round = 0; round < 60; ++round) {
    const auto size = [&] { return static_cast<std::int64_t>(1 + random() % 9); };
    const std::int64_t b = size();
    const std::int64_t c = size();
    const std::string text = "dim a = " + std::to_string(size()) + ", b = " + std::to_string(b) +
                             ", c = " + std::to_string(c) + ", bc = " + std::to_string(b * c) + R"(
fn case() {
  let x = cast(cast(uniform([a, b], low = 0, high = 9, seed = 1), i32), f32)
  let u = cast(cast(uniform([a, c], low = 0, high = 9, seed = 2), i32), f32)
  let y = reshape(einsum(x, u -> [b, c]) -> [bc])
  return y, sum(y * y), grad(sum(y * y), x)
}
)";
    const Program program = program_of(text);
    const std::optional<Outcome> one = run_under({&program, 1}, one_rank());
    REQUIRE(one);
    for (const std::vector<std::int64_t>& sizes :
         {std::vector<std::int64_t>{3, 2}, {2, 3}, {2, 2}, {5, 2}, {3, 2, 2}}) {
      Mesh mesh = mesh_of(sizes);
      mesh.uneven = true;
      const std::vector<Layout> layouts = layouts_of(program, mesh);
      const Layout& layout = layouts[random() % layouts.size()];
      const std::optional<Outcome> many = run_under({&program, 1}, layout);
      if (many) {
        INFO(text << to_string(layout));
        CHECK(many->problem == "");
        CHECK(same_values(*one, *many));
        pending += many->promised ? 0 : 1;
      }
    }
  }
  CHECK(pending > 60);
}

}  // namespace
}  // namespace mtf::tests
