// Ranks that have the same of a large value each do a part of the work on it: fewer bytes, the same
// bits.

#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {
namespace {

// A sum over batch, of I times 256 elements.
std::string sum_of(int i) {
  return "dim b = 8, i = " + std::to_string(i) +
         ", o = 256\n"
         "fn case() {\n"
         "  let x = normal([b, i], seed = 1)\n"
         "  return einsum(x, normal([b, o], seed = 2) -> [i, o])\n"
         "}\n";
}

// Elements that a rank receives where batch is split over x, of x: 4 by y: 2 ranks.
std::int64_t received(const Program& program) {
  for (const Layout& layout : layouts_of(program, mesh_of({4, 2}))) {
    if (to_string(layout) == "[b -> x] on m[x: 4, y: 2]") {
      DiagSink diags;
      const std::optional<SpmdProgram> spmd = lower(program, layout, op_table(), diags);
      REQUIRE(spmd);
      std::int64_t elements = 0;
      for (const Step& step : spmd->steps) {
        elements += step.received;
      }
      return elements;
    }
  }
  FAIL("no layout splits b");
  return 0;
}

TEST_CASE("a large sum is shared by ranks that have the same terms, a small one is not") {
  const std::int64_t large = 512 * 256;
  CHECK(received(program_of(sum_of(512))) == large / 8 * 3 + large / 8 * 7);
  const std::int64_t small = 64 * 256;
  CHECK(received(program_of(sum_of(64))) == 2 * small / 4 * 3);
}

TEST_CASE("sums that are shared by ranks that have the same have the bits of one rank") {
  const Report report = compare_all(program_of(sum_of(512)), {{4, 2}, {2, 4}, {2, 2, 2}});
  CHECK(report.legal > 10);
  CHECK(report.first_difference.empty());
}

}  // namespace
}  // namespace mtf::tests
