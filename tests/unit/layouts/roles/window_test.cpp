// Operations that read around each position of a split dim: a rank is sent its neighbours' borders.

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {
namespace {

// Elements received by the one halo exchange of `return RESULT` with rows over four ranks; -1:
// something else moves, too.
std::int64_t border_of(const std::string& result, bool uneven = false) {
  Layout layout{.name = "split", .mesh = mesh_of({4}), .rules = {}};
  layout.mesh.uneven = uneven;
  layout.rules.push_back({.dim = "rows", .axes = {0}, .span = {}});
  DiagSink diags;
  const std::optional<SpmdProgram> plan = lower(
      program_of("dim rows = 16, cols = 10, down = 3, across = 3, two = 2, five = 5, nine = 9\n"
                 "fn case(x: f32[rows, cols], w: f32[down, across]) {\n  return " +
                 result + "\n}\n"),
      layout, op_table(), diags);
  REQUIRE(plan);
  std::int64_t received = 0;
  for (const Step& step : plan->steps) {
    if (step.kind == StepKind::kHaloExchange) {
      received += step.received;
    } else if (is_collective(step.kind)) {
      return -1;
    }
  }
  return received;
}

TEST_CASE("a 3x3 convolution on four blocks of rows receives its two border rows") {
  CHECK(border_of("einsum(windows(windows(x, over = rows, to = down, pad = 1), over = cols, "
                  "to = across, pad = 1), w -> [rows, cols])") == 2 * 10);
}

TEST_CASE("windows receive what they reach over") {
  CHECK(border_of("windows(x, over = rows, to = five, pad = 2)") == 4 * 10);
  CHECK(border_of("windows(x, over = rows, to = down, dilation = 2, pad = 2)") == 4 * 10);
  CHECK(border_of("max(windows(x, over = rows, to = two, stride = 2), over = two)") == 0);
  CHECK(border_of("windows(x, over = rows, to = down, stride = 2, pad = 1)", true) == 10);
  // Wider than a block: two blocks and a half on either side, as far as there are.
  CHECK(border_of("windows(x, over = rows, to = nine, pad = 4)") == 8 * 10);
  CHECK(border_of("windows(x, over = cols, to = down, pad = 1)") == 0);
}

TEST_CASE("joining along a split dim sends what changes ranks") {
  CHECK(border_of("concat([x, 2 * x], over = rows)") == 2 * 8 * 10);
  CHECK(border_of("concat([x, x], over = cols)") == 0);
}

TEST_CASE("windows give one rank's bits, forward and backward, under every layout") {
  for (const std::string result :
       {"windows(x, over = rows, to = down, pad = 1)",
        "windows(x, over = rows, to = five, stride = 3, pad = 2)",
        "windows(x, over = rows, to = down, dilation = 2, pad = 2)",
        "einsum(windows(windows(x, over = rows, to = down, pad = 1), over = cols, to = across, "
        "pad = 1), w -> [rows, cols])",
        "max(windows(x, over = rows, to = five, stride = 2, pad = 2), over = five)",
        "where(x > 0, x, 0) + mean(windows(x, over = rows, to = down, pad = 1), over = down)"}) {
    INFO(result);
    const Report report = compare_all(
        program_of("dim rows = 16, cols = 8, down = 3, across = 3, five = 5\nfn case() {\n"
                   "  let x = normal([rows, cols], seed = 1)\n"
                   "  let w = normal([down, across], seed = 2)\n  let r = " +
                   result +
                   "\n  let weight = normal(shape(r), seed = 9)\n"
                   "  return r, grad(sum(r * weight), x)\n}\n"),
        {{2}, {4}, {2, 2}, {8}});
    CHECK(report.legal >= 8);
    CHECK(report.first_difference == "");
  }
}

}  // namespace
}  // namespace mtf::tests
