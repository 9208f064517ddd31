// Where the promise of equal bits ends, `mtf verify` knows it: as long as it sees no reason, bits
// are equal, on meshes of any size and for sums of any size.

#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/layouts/programs/generate.h"

namespace mtf::tests {
namespace {

// How many runs had other bits than one rank, and how many were promised the same.
struct Seen {
  int promised = 0;
  int others = 0;
};

void compare(const Program& program, const Outcome& one, const Layout& layout, Seen& seen) {
  const std::optional<Outcome> many = run_under({&program, 1}, layout);
  if (!many) {
    return;
  }
  const bool same = same_values(one, *many);
  seen.promised += many->promised ? 1 : 0;
  seen.others += same ? 0 : 1;
  if (many->promised && !same) {
    FAIL_CHECK(to_string(layout) << ": other bits and no reason for it\n"
                                 << mtf::to_string(program));
  }
}

TEST_CASE("on meshes that are no powers of two, bits differ only for a reason") {
  const std::vector<std::vector<std::int64_t>> meshes = {{3}, {5}, {6}, {2, 3}, {3, 2}, {32}};
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Program program = random_program(seed);
    const Outcome one = run_under({&program, 1}, one_rank()).value();
    std::mt19937_64 random(seed);
    for (const std::vector<std::int64_t>& mesh : meshes) {
      compare(program, one, random_layout({&program, 1}, mesh_of(mesh), random), seen);
    }
  }
  CHECK(seen.promised > 400);
  CHECK(seen.others > 15);
}

// Sums over several dims so large that the inner one has fewer blocks.
const std::vector<std::string> kLargeSums = {
    "einsum(normal([m, a, b], seed = 1), normal([a, b, n], seed = 2) -> [m, n])",
    "einsum(normal([a, m, b], seed = 1), normal([b, n, a], seed = 2) -> [m, n])",
    "einsum(normal([a, b, m], seed = 1), normal([a, b, n], seed = 2) -> [n, m])",
    "scatter_add(normal([a, b, n], seed = 1), cast(uniform([a, b], high = 256, seed = 2), i32), "
    "over = table)",
    "scatter_add(normal([b, n, a], seed = 1), cast(uniform([a, b], high = 9, seed = 2), i32), "
    "over = table)"};

TEST_CASE("of large sums over several dims, bits differ only for a reason") {
  for (const std::string& sum : kLargeSums) {
    INFO(sum);
    const Program program = program_of(
        "dim a = 64, b = 144, m = 16, n = 16, table = 256\n"
        "fn case() {\n  return " +
        sum + "\n}\n");
    const Outcome one = run_under({&program, 1}, one_rank()).value();
    Seen seen;
    for (const std::vector<std::int64_t>& mesh :
         {std::vector<std::int64_t>{2}, {4}, {16}, {2, 2}, {4, 4}, {3}}) {
      for (const Layout& layout : layouts_of(program, mesh_of(mesh))) {
        compare(program, one, layout, seen);
      }
    }
    CHECK(seen.promised >= 10);
    CHECK(seen.others >= 2);
  }
}

}  // namespace
}  // namespace mtf::tests
