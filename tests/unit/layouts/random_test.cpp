// Random programs give one rank's bits under random legal layouts; a failing one is shrunk first.
//
// The short form runs in CI. The long one: MTF_RANDOM_PROGRAMS=10000 MTF_RANDOM_LAYOUTS=8
// unit_layouts.

#include <cstdlib>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "tests/unit/layouts/every_layout.h"
#include "tests/unit/layouts/generate.h"

namespace mtf::tests {
namespace {

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

// Up to `count` legal layouts on 2, 4 and 8 ranks. "" or the first difference from one rank.
std::string first_difference(const Program& program, std::uint64_t seed, std::uint64_t count,
                             std::uint64_t& compared) {
  const std::optional<Outcome> one = run_under(program, one_rank());
  if (!one || !one->problem.empty()) {
    return "one rank: " + (one ? one->problem : "refused");
  }
  std::mt19937_64 random(seed);
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{2}, {4}, {2, 2}, {2, 2, 2}}) {
    std::vector<Layout> layouts = layouts_of(program, mesh_of(sizes));
    std::uint64_t done = 0;
    for (std::uint64_t tries = 0; done < count && tries < 4 * count; ++tries) {
      const Layout& layout = layouts[random() % layouts.size()];
      const std::optional<Outcome> many = run_under(program, layout);
      if (!many) {
        continue;
      }
      ++done;
      if (!many->problem.empty() || !same_values(program, *one, *many)) {
        return to_string(layout) + ": " + (many->problem.empty() ? "other bits" : many->problem);
      }
    }
    compared += done;
  }
  return "";
}

TEST_CASE("random programs give one rank's bits under random layouts") {
  const std::uint64_t programs = number_from_environment("MTF_RANDOM_PROGRAMS", 300);
  const std::uint64_t layouts = number_from_environment("MTF_RANDOM_LAYOUTS", 4);
  const std::uint64_t first = number_from_environment("MTF_RANDOM_SEED", 1);
  std::uint64_t compared = 0;
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    const Program program = random_program(seed);
    const std::string difference = first_difference(program, seed, layouts, compared);
    if (difference.empty()) {
      continue;
    }
    std::uint64_t ignored = 0;
    const Program small = shrink(program, [&](const Program& smaller) {
      return !first_difference(smaller, seed, layouts, ignored).empty();
    });
    FAIL_CHECK("seed " << seed << ": " << difference << "\n"
                       << mtf::to_string(small) << first_difference(small, seed, layouts, ignored));
  }
  CHECK(compared > programs);
}

}  // namespace
}  // namespace mtf::tests
