// Everything at once: random programs with reshapes, pads, shifts and gathers, pins and a region,
// partial sums and gradients, under layouts with `*`, `infer`, `stream`, `where`, `gather = again`,
// even and uneven, on 2 to 12 ranks, against one rank. Most add up whole numbers only, so that a
// wrong number shows where no bits are promised.
//
// The short form runs in CI, tests/fuzz/layouts the long one, by these variables.

#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/layouts/programs/generate.h"

namespace mtf::tests {
namespace {

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

const std::vector<std::vector<std::int64_t>> kMeshes = {
    {2},    {3},    {4},    {2, 2}, {5},    {6},    {2, 3},    {3, 2},    {7},      {8},
    {4, 2}, {9},    {3, 3}, {2, 5}, {10},   {11},   {2, 2, 2}, {12},      {3, 4},   {6, 2},
    {2, 2}, {3, 2}, {2, 4}, {2, 2}, {4, 3}, {5, 2}, {2, 2, 3}, {3, 2, 2}, {2, 3, 2}};

struct Case {
  bool whole = false;
  Layout layout;
  Program program;
};

// Every other stretch of it as a `recompute` block.
Program in_blocks(Program program, std::mt19937_64& random) {
  const std::size_t length = 2 + random() % 8;
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const std::size_t stretch = i / length;
    program.values[i].recompute.block = stretch % 2 == 0 ? static_cast<std::int32_t>(stretch) : -1;
  }
  return program;
}

Case random_case(std::uint64_t seed, std::mt19937_64& random) {
  Case result{.whole = seed % 4 != 0, .layout = {}, .program = {}};
  const int operations = 4 + static_cast<int>(random() % 12);
  const Program plain = random_program(
      random(),
      {.operations = operations, .gradients = false, .whole = result.whole, .moves = 0.6});
  Mesh mesh = mesh_of(kMeshes[random() % kMeshes.size()]);
  mesh.uneven = random() % 2 == 0;
  result.layout = refined_layout({&plain, 1}, mesh, random);
  if (random() % 4 == 0) {
    result.layout = partly_held(result.layout, random);
  }
  Program program = random() % 4 == 0 ? plain : dressed(plain, result.layout, random);
  result.program = random() % 2 == 0
                       ? with_gradients(in_blocks(std::move(program), random), result.whole)
                       : program;
  return result;
}

// "" or how the layout's values differ from one rank's; nullopt where it is not legal, or nothing
// is promised.
std::optional<std::string> difference(const Case& drawn, const Program& program) {
  const std::optional<Outcome> many = run_under({&program, 1}, drawn.layout);
  if (!many) {
    return std::nullopt;
  }
  if (!many->problem.empty()) {
    return many->problem;
  }
  const std::optional<Outcome> one = run_under({&program, 1}, one_rank());
  if (!one || !one->problem.empty()) {
    return "one rank: " + (one ? one->problem : "refused");
  }
  if (many->promised) {
    return same_values(*one, *many) ? "" : "other bits";
  }
  if (!drawn.whole) {
    return std::nullopt;
  }
  return same_numbers(*one, *many) ? "" : "other numbers";
}

TEST_CASE("random programs with everything compute what one rank does") {
  const std::uint64_t programs = number_from_environment("MTF_MIXED_PROGRAMS", 200);
  const std::uint64_t first = number_from_environment("MTF_MIXED_SEED", 1);
  std::uint64_t compared = 0;
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    std::mt19937_64 random(seed);
    for (int tries = 0; tries < 12; ++tries) {
      const Case drawn = random_case(seed, random);
      const std::optional<std::string> found = difference(drawn, drawn.program);
      if (!found) {
        continue;
      }
      ++compared;
      if (!found->empty()) {
        const Program small = shrink(drawn.program, [&](const Program& smaller) {
          return !difference(drawn, smaller).value_or("").empty();
        });
        FAIL_CHECK("seed " << seed << ", try " << tries << ": " << *found << " under "
                           << to_string(drawn.layout) << "\n"
                           << mtf::to_string(small) << difference(drawn, small).value_or(""));
      }
      break;
    }
  }
  CHECK(compared > programs * 9 / 10);
  WARN(compared << " programs compared");
}

}  // namespace
}  // namespace mtf::tests
