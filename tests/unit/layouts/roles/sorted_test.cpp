// Sorts of a split dim: ranks swap sorted parts, never the dim.

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lowering/rounds/sort_rounds.h"
#include "tests/unit/layouts/roles/plan_of.h"

namespace mtf::tests {
namespace {

const std::vector<std::string> kOneExchange = {"sort_exchange"};

Moves moves_over(const std::string& type, const std::string& result, std::int64_t ranks) {
  const Program program = program_of("dim n = 256, batch = 6\nfn case(x: " + type +
                                     "[batch, n]) {\n  return " + result + "\n}\n");
  return moves_of(program, over_all("n", ranks));
}

// Every sequence of zeros and ones is sorted: then everything is (Knuth 3, theorem 5.3.4Z).
TEST_CASE("the rounds of a sort over ranks sort, for any number of them") {
  for (std::int64_t ranks = 1; ranks <= 12; ++ranks) {
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << ranks; ++bits) {
      std::uint64_t now = bits;
      const std::size_t rounds = sort_rounds(ranks, 0).size();
      for (std::size_t round = 0; round < rounds; ++round) {
        for (std::int64_t place = 0; place < ranks; ++place) {
          const SortRound here = sort_rounds(ranks, place)[round];
          if (!here.partner || !here.keeps_low) {
            continue;
          }
          const SortRound there = sort_rounds(ranks, *here.partner)[round];
          REQUIRE(there.partner == place);
          REQUIRE_FALSE(there.keeps_low);
          const std::uint64_t low = now >> place & 1U;
          const std::uint64_t high = now >> *here.partner & 1U;
          now &= ~(std::uint64_t{1} << place | std::uint64_t{1} << *here.partner);
          now |= (low & high) << place | (low | high) << *here.partner;
        }
      }
      for (std::int64_t place = 1; place < ranks; ++place) {
        REQUIRE((now >> (place - 1) & 1U) <= (now >> place & 1U));
      }
    }
  }
}

TEST_CASE("a sort of a split dim moves a part for each round of the exchange") {
  const std::vector<std::int64_t> rounds = {1, 3, 6, 10};
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const std::int64_t ranks = std::int64_t{2} << i;
    const std::int64_t part = 6 * 256 / ranks;
    const Moves moves = moves_over("f32", "sort(x, over = n)", ranks);
    CHECK(moves.kinds == kOneExchange);
    CHECK(moves.received == rounds[i] * part);
    const Moves places = moves_over("f32", "argsort(x, over = n)", ranks);
    CHECK(places.kinds == kOneExchange);
    CHECK(places.received == rounds[i] * part);  // words of a key and a place
    const Moves wide = moves_over("f64", "argsort(x, over = n)", ranks);
    CHECK(wide.received == rounds[i] * part * 2);
  }
}

TEST_CASE("sorts give one rank's bits, forward and backward, under every layout") {
  for (const std::string x :
       {"normal([b, a, c], seed = 1)", "floor(3 * normal([b, a, c], seed = 1))",
        "where(normal([b, a, c], seed = 1) > 1, 0 / zeros([]), 1)",
        "where(normal([b, a, c], seed = 1) > 0, 0.0, -0.0)",
        "cast(normal([b, a, c], seed = 1), f64)", "cast(9 * normal([b, a, c], seed = 1), i32)",
        "cast(normal([b, a, c], seed = 1), bf16)"}) {
    for (const std::string result :
         {"sort(x, over = a)", "sort(x, over = a, descending = true)", "argsort(x, over = a)",
          "argsort(x, over = a, descending = true)"}) {
      INFO(result << " of " << x);
      for (const std::string size : {"32", "48"}) {
        const Report report = compare_all(
            program_of("dim a = " + size + ", b = 4, c = 3\nfn case() {\n  let x = " + x +
                       "\n  return " + result + "\n}\n"),
            {{2}, {4}, {8}, {2, 2}, {4, 2}, {3}, {6}});
        CHECK(report.legal >= 8);
        CHECK(report.first_difference == "");
      }
    }
  }
}

}  // namespace
}  // namespace mtf::tests
