// Sums of so many elements that a leaf is a tree of pieces.

#include <catch2/catch.hpp>

#include "tests/unit/runtime/kernels/reduce/reduce_reference.h"

namespace mtf {
namespace {

// Leaves longer than kLongestLeaf, in each order of memory that has loops of its own: side by side,
// next to results, in runs, and as short runs of leaves that lie behind each other.
std::vector<Reduction> with_long_leaves() {
  const std::int64_t n = 3 * kLongestLeaf + 17;
  const std::int64_t rows = kLongestLeaf / 8 + 29;
  return {
      {.reduced = {{.extent = n, .in = 1}}},
      {.reduced = {{.extent = 2 * kLongestLeaf, .in = 1, .blocks = 2}}},
      {.kept = {{.extent = 2, .in = 2 * n, .out = 1}},
       .reduced = {{.extent = 2 * n, .in = 1, .blocks = 2}}},
      {.kept = {{.extent = 3, .in = 1, .out = 1}}, .reduced = {{.extent = n, .in = 3}}},
      {.kept = {{.extent = 2, .in = 1, .out = 1}},
       .reduced = {{.extent = 3 * kLongestLeaf, .in = 2, .blocks = 3}}},
      {.reduced = {{.extent = rows, .in = 100}, {.extent = 94, .in = 1, .blocks = 2}}},
      {.reduced = {{.extent = n, .in = 16}, {.extent = 16, .in = 1, .blocks = 16}}},
      {.reduced = {{.extent = rows, .in = 64}, {.extent = 64, .in = 1, .blocks = 4}}},
      {.reduced = {{.extent = kLongestLeaf / 4, .in = 32}, {.extent = 32, .in = 1, .blocks = 8}}}};
}

}  // namespace

TEMPLATE_TEST_CASE("leaves of many elements are trees of pieces", "[reduce]", float, double,
                   std::int32_t, BFloat16, Float16) {
  constexpr bool kRounds = kIsNarrow<TestType>;
  using Wide = std::conditional_t<kRounds, float, TestType>;
  std::mt19937 random(5);
  int number = 0;
  for (Reduction reduction : with_long_leaves()) {
    INFO("reduction " << number);
    reduction.kind = number++ % 4 == 3 && !kRounds ? ReduceKind::kMax : ReduceKind::kSum;
    std::size_t size = 1;
    std::size_t results = 1;
    for (const ReducedDim& dim : reduction.reduced) {
      size += static_cast<std::size_t>((dim.extent - 1) * dim.in);
    }
    for (const KeptDim& dim : reduction.kept) {
      size += static_cast<std::size_t>((dim.extent - 1) * dim.in);
      results *= static_cast<std::size_t>(dim.extent);
    }
    const auto drawn = random_values<Wide>(size, random);
    const std::vector<TestType> in(drawn.begin(), drawn.end());
    const std::vector<Wide> wide(in.begin(), in.end());
    std::vector<Wide> found(results);
    const auto plan = plan_reduction(reduction, stored_dtype(TestType{}));
    mtf::reduce(*plan, in.data(), found.data());
    REQUIRE(threads_agree(*plan, in.data(), found));
    REQUIRE(same_bits(found, reference(reduction, wide.data(), results)));
  }
}

TEST_CASE("a sum of millions of equal elements is as close as few roundings let it be",
          "[reduce]") {
  constexpr std::int64_t kMany = 3'000'017;
  const std::vector<float> in(kMany, 0.1F);
  float found = 0;
  reduce({.reduced = {{.extent = kMany, .in = 1}}}, in.data(), &found);
  REQUIRE(found == Approx(0.1F * static_cast<double>(kMany)).epsilon(1e-5));
}

}  // namespace mtf
