// Sums over leading dims at the end of chains: joined from blocks, to the bits of one pass.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lowering/steps/column_bands.h"
#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {
namespace {

// The chains of a plan that end in such sums.
std::vector<const Step*> chains_with_columns(const SpmdProgram& plan) {
  std::vector<const Step*> chains;
  for (const Step& step : plan.steps) {
    const bool has_columns = std::ranges::any_of(step.calls, [&plan](const LocalCall& call) {
      return call.result.valid() && reduces_leading_dim(plan, call);
    });
    if (step.calls.size() > 1 && has_columns) {
      chains.push_back(&step);
    }
  }
  return chains;
}

std::string drawn_case(std::mt19937& random) {
  const auto below = [&random](std::size_t n) { return random() % n; };
  constexpr std::array<int, 7> kSizes = {1, 3, 8, 16, 27, 32, 64};
  constexpr std::array<const char*, 4> kDims = {"a", "b", "c", "d"};
  const std::size_t rank = 2 + below(3);
  std::string dims = "dim ";
  std::string shape;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::string name = kDims[d];
    dims += (d == 0 ? "" : ", ") + name + " = " + std::to_string(kSizes[below(kSizes.size())]);
    shape += (d == 0 ? "" : ", ") + name;
  }
  constexpr std::array<const char*, 5> kChains = {"2 * x - 1", "square(x)", "where(x > y, x, y)",
                                                  "x * y", "abs(x) + 0.5 * y"};
  constexpr std::array<const char*, 4> kReductions = {"sum", "max", "min", "sum"};
  std::string body = "  let x = normal([" + shape + "], seed = 1)\n  let y = normal([" + shape +
                     "], seed = 2)\n  let z = " + kChains[below(kChains.size())] + "\n";
  std::string results;
  for (int i = 0; i < 3; ++i) {
    std::string kept;
    for (std::size_t d = below(2); d < rank; ++d) {
      kept += below(2) == 0 ? (kept.empty() ? "" : ", ") + std::string(kDims[d]) : "";
    }
    const std::string of = below(2) == 0 ? "z" : kChains[below(kChains.size())];
    results +=
        std::string(kReductions[below(kReductions.size())]) + "(" + of + " -> [" + kept + "]), ";
  }
  return dims + "\nfn case() {\n" + body + "  return " + results +
         (below(2) == 0 ? "z" : "sum(z)") + "\n}\n";
}

TEST_CASE("sums over leading dims end chains that keep nothing in memory") {
  const Program program = program_of(R"(
dim batch = 32, row = 32, channel = 64
fn case(x: f32[batch, row, channel], y: f32[batch, row, channel]) {
  let centred = x - mean(x -> [channel])
  return sum(square(centred) -> [channel]), sum(centred * y -> [channel])
}
)");
  const SpmdProgram plan = lowered(program, one_rank());
  const std::vector<const Step*> chains = chains_with_columns(plan);
  REQUIRE(chains.size() == 2);
  for (const SpmdValue& value : plan.values) {
    INFO(value.name);
    CHECK((value.home != Home::kArena || value.local.shape.rank() < 3));
  }
}

// The chain that ends in the sum of all of x * y, and its bands; none: the sum is a step of its
// own.
std::optional<Bands> bands_of_whole_sum(const std::string& rows, const std::string& columns) {
  const Program program = program_of(
      "dim row = " + rows + ", column = " + columns +
      "\nfn case(x: f32[row, column], y: f32[row, column]) {\n  return sum(exp(x) + y)\n}\n");
  const SpmdProgram plan = lowered(program, one_rank());
  const std::vector<const Step*> chains = chains_with_columns(plan);
  if (chains.empty()) {
    return std::nullopt;
  }
  const Chain chain = chain_of(*chains.front());
  const ChainExtent extent = extent_of(plan, chain);
  return column_bands(plan, chain, leading_dims(plan.at(extent.first).local.shape, extent.dims),
                      row_bytes(plan, chain, extent));
}

TEST_CASE("blocks of both dims are cut where their rows are long enough for a pass each") {
  const std::optional<Bands> small = bands_of_whole_sum("4096", "8");
  REQUIRE(small);
  CHECK(small->cut == 0);
  const std::optional<Bands> short_rows = bands_of_whole_sum("6250", "32");  // 3125 x 2 in a block
  REQUIRE(short_rows);
  CHECK(short_rows->cut == 0);
  CHECK(short_rows->rows == 3125);
  CHECK_FALSE(bands_of_whole_sum("100003", "32"));  // a block of all rows fits in no cache
  const std::optional<Bands> whole_rows = bands_of_whole_sum("2048", "1024");  // 128 x 64
  REQUIRE(whole_rows);
  CHECK(whole_rows->cut == 0);
  CHECK(whole_rows->rows == 128);
  const std::optional<Bands> long_rows = bands_of_whole_sum("4096", "4096");
  REQUIRE(long_rows);
  CHECK(long_rows->cut == 1);
  CHECK(long_rows->outer == 256);
  CHECK(long_rows->rows == 512);
}

TEST_CASE("who reads such a sum is in no chain with it") {
  const Program program = program_of(R"(
dim batch = 32, row = 32, channel = 64
fn case() {
  let y = normal([batch, row, channel], seed = 1) * 2
  return y - sum(y -> [channel]), exp(sum(y -> [channel]))
}
)");
  const SpmdProgram plan = lowered(program, one_rank());
  for (const Step* step : chains_with_columns(plan)) {
    for (const LocalCall& call : step->calls) {
      for (const LocalCall& other : step->calls) {
        CHECK((!reduces_leading_dim(plan, call) ||
               std::ranges::find(other.operands, call.result) == other.operands.end()));
      }
    }
  }
  const Report report = compare_all(program, {{2}, {4}});
  INFO(report.first_difference);
  CHECK(report.first_difference.empty());
}

TEST_CASE("drawn chains of such sums give one rank's bits under every layout") {
  std::mt19937 random(7);
  std::int64_t legal = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string text = drawn_case(random);
    INFO(text);
    const Report report = compare_all(program_of(text), {{2}, {4}, {2, 2}});
    legal += report.legal;
    INFO(report.first_difference);
    CHECK(report.first_difference.empty());
  }
  CHECK(legal > 200);
}

}  // namespace
}  // namespace mtf::tests
