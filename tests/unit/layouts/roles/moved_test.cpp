// Elements that get new places along a split dim: what changes ranks is sent, and nothing else.

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/layouts/roles/plan_of.h"

namespace mtf::tests {
namespace {

Program case_of(const std::string& result) {
  return program_of("dim a = 16, k = 3, inner = 12\nfn case(x: f32[a, k]) {\n  return " + result +
                    "\n}\n");
}

// `a` over four ranks.
Moves moves_over(const std::string& result, bool uneven = false) {
  return moves_of(case_of(result), over_all("a", 4, uneven));
}

const std::vector<std::string> kOneExchange = {"halo_exchange"};

void check_moves(const std::string& result, std::int64_t slices, bool uneven = false) {
  INFO(result);
  const Moves moves = moves_over(result, uneven);
  CHECK(moves.kinds == kOneExchange);
  CHECK(moves.received == 3 * slices);
}

TEST_CASE("a shift along a split dim moves as many slices as it shifts by") {
  check_moves("shift(x, over = a, by = 1)", 1);
  check_moves("shift(x, over = a, by = -3)", 3);
  check_moves("shift(x, over = a, by = 1, wrap = true)", 1);
  check_moves("shift(x, over = a, by = 4)", 4);
  check_moves("shift(x, over = a, by = 6)", 4);  // a block has no more
  check_moves("shift(x, over = a, by = 3, wrap = true)", 3);
  check_moves("roll(x, a, -2)", 2);
}

TEST_CASE("other moves along a split dim send what changes ranks") {
  check_moves("reverse(x, over = a)", 4);
  check_moves("x[a: 5]", 1);
  check_moves("x[a: 3..15]", 2);                      // blocks of 3: the first reads 3..6 of 0..4
  check_moves("x[a: 2..14 as inner]", 10);            // all of it: the first has two
  check_moves("x[a: 1..11]", 1, /*uneven=*/true);     // blocks of 3: the last reads 10
  check_moves("pad(x, a, begin = 1, size = 24)", 4);  // blocks of 6: the third reads 11..16
  check_moves("pad(x, a, begin = 2, size = 20, mode = \"wrap\")", 2);  // the first has the last two
}

TEST_CASE("what stays where it is moves nothing") {
  CHECK(moves_over("shift(x, over = k, by = 1)").kinds.empty());
  CHECK(moves_over("shift(ones([a, k]), over = a, by = 1) + x").kinds.empty());
}

// GSPMD, section 3.3: a dim of stages, split, that is shifted once an iteration.
TEST_CASE("a pipeline shifts once an iteration and gathers nothing") {
  const Program program = program_of(R"(
dim stage = 4, micro = 4, batch = 2, io = 8, out = 8
fn case() {
  let x = normal([micro, batch, io], seed = 1)
  let w = normal([stage, io, out], seed = 2)
  var state = zeros([stage, batch, io])
  let first = cast(range(stage) == 0, f32)
  var done = []
  for i in 0..7 {
    state = shift(state, over = stage, by = 1)
    if i < 4 {
      state = state + first * x[micro: i]
    }
    state = rename(relu(einsum(state, w -> [stage, batch, out])), out -> io)
    if i >= 3 {
      done = done + [state[stage: 3]]
    }
  }
  return stack(done, micro)
}
)");
  const Moves moves = moves_of(program, over_all("stage", 4));
  CHECK(std::ranges::count(moves.kinds, "halo_exchange") == 6 + 4);  // shifts, and what leaves
  CHECK(std::ranges::count(moves.kinds, "all_gather") == 0);
  CHECK(std::ranges::count(moves.kinds, "all_reduce") == 0);
  CHECK(moves.received == (6 + 4) * 2 * 8);
  const Report report = compare_all(program, {{4}, {2, 2}});
  CHECK(report.first_difference == "");
}

}  // namespace
}  // namespace mtf::tests
