// Operations along a split dim: ranks tell each other the joins of their parts, and no more.

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/layouts/roles/plan_of.h"

namespace mtf::tests {
namespace {

const std::vector<std::string> kOneScan = {"exclusive_scan"};

Moves moves_over(const std::string& result, std::int64_t ranks, bool uneven = false) {
  const Program program =
      program_of("dim a = 32, k = 3\nfn case(x: f32[a, k]) {\n  return " + result + "\n}\n");
  return moves_of(program, over_all("a", ranks, uneven));
}

TEST_CASE("a scan of a split dim receives one slice of joins per step of the tree") {
  for (const std::string result :
       {"cumsum(x, over = a)", "cumsum(x, over = a, exclusive = true, reverse = true)",
        "cumprod(x, over = a)", "cummax(x, over = a)", "cumlogsumexp(x, over = a)"}) {
    INFO(result);
    for (const std::int64_t steps : {1, 2, 3, 4}) {
      const Moves moves = moves_over(result, std::int64_t{1} << steps);
      CHECK(moves.kinds == kOneScan);
      CHECK(moves.received == 3 * steps);
    }
  }
  CHECK(moves_over("recurrence(x, x, over = a)", 4).received == 3 * 2 * 2);  // of pairs
}

TEST_CASE("a scan of a number of ranks that is no power of two takes the steps that there are") {
  CHECK(moves_over("cumsum(x, over = a)", 3, /*uneven=*/true).received == 3);
  CHECK(moves_over("cumsum(x, over = a)", 5, /*uneven=*/true).received == 3 * 2);
  CHECK(moves_over("cumsum(x, over = a)", 6, /*uneven=*/true).received == 3 * 2);
}

TEST_CASE("a scan along a dim that ranks have whole moves nothing") {
  CHECK(moves_over("cumsum(x, over = k)", 4).kinds.empty());
}

std::string whole_case(const std::string& result) {
  return "dim a = 32, b = 6, c = 5\nfn case() {\n"
         "  let x = normal([b, a, c], seed = 1)\n  let y = uniform([a, c], seed = 2)\n"
         "  let r = " +
         result +
         "\n  let weight = normal(shape(r), seed = 9)\n"
         "  return r, grad(sum(r * weight), x)\n}\n";
}

TEST_CASE("scans give one rank's bits, forward and backward, under every layout") {
  for (const std::string result :
       {"cumsum(x, over = a)", "cumsum(x, over = a, exclusive = true, reverse = true)",
        "cumprod(1 + 0.1 * x, over = a)", "cumprod(x, over = a, exclusive = true)",
        "cummax(x, over = a, reverse = true)", "cummin(x, over = a, exclusive = true) * y",
        "cumlogsumexp(3 * x, over = a)", "cumlogsumexp(x, over = a, reverse = true)",
        "recurrence(y, x, over = a)", "recurrence(sigmoid(x), y, over = a, reverse = true)",
        "cumsum(cumsum(x, over = a), over = b)", "recurrence(0.5, x, over = c)"}) {
    INFO(result);
    const Report report = compare_all(program_of(whole_case(result)),
                                      {{2}, {4}, {8}, {16}, {2, 2}, {4, 2}, {2, 2, 2}});
    CHECK(report.legal >= 8);
    CHECK(report.first_difference == "");
  }
}

}  // namespace
}  // namespace mtf::tests
