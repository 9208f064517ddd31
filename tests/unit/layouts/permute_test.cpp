// What moves to other ranks whole moves once: blocks over one axis that are wanted over another of
// its size are one permute.

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {
namespace {

struct Moved {
  std::vector<std::string> kinds;
  std::int64_t elements = 0;
};

// The collectives of `return RESULT` on x by y ranks.
Moved collectives_of(const std::string& result, std::int64_t x, std::int64_t y) {
  const std::string text = "dim a = 16, k = 8, n = 4\nmesh m = [x: " + std::to_string(x) +
                           ", y: " + std::to_string(y) +
                           "]\nfn case() {\n"
                           "  let wide = normal([a, k], seed = 1) @ [a -> x]\n"
                           "  let thin = normal([a, n], seed = 1) @ [a -> x]\n"
                           "  let w = normal([k, n], seed = 2)\n  return " +
                           result + "\n}\n";
  DiagSink diags;
  const Layout layout{.name = "none", .mesh = mesh_of({x, y}), .rules = {}};
  const std::optional<SpmdProgram> spmd = lower(program_of(text), layout, op_table(), diags);
  REQUIRE(spmd);
  Moved moved;
  for (const Step& step : spmd->steps) {
    if (is_collective(step.kind)) {
      moved.kinds.emplace_back(to_string(step.kind));
      moved.elements += step.received;
    }
  }
  return moved;
}

const std::vector<std::string> kOnePermute = {"permute"};

TEST_CASE("blocks over one axis that are wanted over another are one permute") {
  const Moved moved = collectives_of("(thin + 1) @ [a -> y]", 4, 4);
  CHECK(moved.kinds == kOnePermute);
  CHECK(moved.elements == 16 / 4 * 4);
}

TEST_CASE("a product whose result is wanted over each other's axes is one permute of it") {
  const Moved moved =
      collectives_of("einsum(wide, w @ [n -> y] -> [a, n]) @ [a -> y, n -> x]", 2, 2);
  CHECK(moved.kinds == kOnePermute);
  CHECK(moved.elements == 16 / 2 * 4 / 2);
}

}  // namespace
}  // namespace mtf::tests
