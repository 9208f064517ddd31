// Operations that take few elements of a split dim: each rank proposes its own, and no more moves.

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/layouts/roles/plan_of.h"

namespace mtf::tests {
namespace {

const std::vector<std::string> kOneGather = {"all_gather"};

Moves moves_over(const std::string& type, const std::string& result, std::int64_t ranks) {
  const Program program =
      program_of("dim vocab = 256, batch = 6, best = 5, all = 160\nfn case(x: " + type +
                 "[batch, vocab]) {\n  return " + result + "\n}\n");
  return moves_of(program, over_all("vocab", ranks));
}

TEST_CASE("the largest k of a split dim are chosen among k of each rank") {
  for (const std::int64_t ranks : {2, 4, 8}) {
    const Moves moves = moves_over("f32", "top_k_places(x -> [batch, best], over = vocab)", ranks);
    CHECK(moves.kinds == kOneGather);
    CHECK(moves.received == (ranks - 1) * 6 * 5);  // words of a number and its place
  }
  const Moves wide = moves_over("f64", "top_k_places(x -> [batch, best], over = vocab)", 4);
  CHECK(wide.received == 3 * 6 * 5 * 2);
}

TEST_CASE("where proposals would be more than the dim, it is gathered") {
  const Moves moves = moves_over("f32", "top_k_places(x -> [batch, all], over = vocab)", 4);
  CHECK(moves.kinds == kOneGather);
  CHECK(moves.received == 6 * 192);
}

TEST_CASE("an argmax of a split dim moves an extreme and a place of each rank") {
  const std::vector<std::string> two = {"all_reduce", "all_reduce"};
  CHECK(moves_over("f32", "argmax(x, over = vocab)", 4).kinds == two);
  CHECK(moves_over("f32", "argmin(x, over = vocab)", 4).kinds == two);
}

TEST_CASE("selections give one rank's bits, forward and backward, under every layout") {
  // Of whole numbers many are equal: the first of them comes first on every layout.
  for (const std::string x :
       {"normal([b, a, c], seed = 1)", "floor(3 * normal([b, a, c], seed = 1))",
        "where(normal([b, a, c], seed = 1) > 1, 0 / zeros([]), 1)",
        "cast(normal([b, a, c], seed = 1), f64)"}) {
    for (const std::string result :
         {"top_k(x -> [c, best, b], over = a)", "top_k(x -> [best, b, c], over = a)",
          "nth_largest(x, over = a, n = 6)"}) {
      INFO(result << " of " << x);
      const Report report =
          compare_all(program_of("dim a = 32, b = 4, c = 3, best = 4\nfn case() {\n  let x = " + x +
                                 "\n  let r = " + result +
                                 "\n  let weight = normal(shape(r), seed = 9, dtype = dtype(r))\n"
                                 "  return r, grad(sum(r * weight), x)\n}\n"),
                      {{2}, {4}, {8}, {2, 2}, {4, 2}});
      CHECK(report.legal >= 8);
      CHECK(report.first_difference == "");
    }
  }
}

}  // namespace
}  // namespace mtf::tests
