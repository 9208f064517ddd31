// Products of one row and one column in many batches: vectors multiplied element by element.

#include <algorithm>
#include <array>

#include <catch2/catch.hpp>

#include "runtime/products/gemm.h"
#include "tests/unit/runtime/products/gemm_reference.h"

namespace mtf {
namespace {

std::int64_t pick(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

GemmDim inner_dim(std::mt19937& random) {
  const std::int64_t blocks = std::int64_t{1} << pick(random, 0, 3);
  return {.extent = blocks * pick(random, 1, 9), .blocks = blocks};
}

// Vectors of two dims, either of which, or the batch, lies side by side.
Gemm vector_products(std::int64_t batches, std::mt19937& random) {
  Gemm gemm = {.batch = {{.extent = batches, .out = pick(random, 1, 3)}},
               .inner = {inner_dim(random), inner_dim(random)},
               .accumulate = pick(random, 0, 3) == 0};
  for (const auto side : {&GemmDim::a, &GemmDim::b}) {
    std::array<GemmDim*, 3> dims = {gemm.batch.data(), gemm.inner.data(), &gemm.inner[1]};
    std::ranges::shuffle(dims, random);
    std::int64_t stride = 1;
    for (GemmDim* dim : dims) {
      dim->*side = stride;
      stride *= dim->extent;
    }
  }
  return gemm;
}

}  // namespace

TEMPLATE_TEST_CASE("vectors multiplied element by element have the bits of their definition",
                   "[gemm]", float, double) {
  std::mt19937 random(12);
  for (int i = 0; i < 200; ++i) {
    const std::int64_t batches = i % 10 == 0 ? pick(random, 1000, 1100) : pick(random, 1, 40);
    const Gemm gemm = vector_products(batches, random);
    const std::int64_t elements = batches * gemm.inner[0].extent * gemm.inner[1].extent;
    const auto a = random_values<TestType>(elements, random);
    const auto b = random_values<TestType>(elements, random);
    auto found = random_values<TestType>(batches * gemm.batch[0].out, random);
    auto expected = found;
    reference_gemm(gemm, a.data(), b.data(), expected.data());
    mtf::gemm(gemm, a.data(), b.data(), found.data(), {.isa = widest_isa(), .threads = 1});
    INFO("product " << i << " of " << batches << " vectors");
    REQUIRE(same_bits<TestType>(found, expected));
  }
}

TEMPLATE_TEST_CASE("long vectors multiplied element by element are trees of chains", "[gemm]",
                   float, double) {
  std::mt19937 random(14);
  constexpr std::int64_t kLong = 2 * kLongestChain + 77;
  for (const std::int64_t blocks : {1, 2, 16}) {
    for (const bool side_by_side : {true, false}) {
      const std::int64_t batches = 19;
      const std::int64_t inner = blocks * kLong;
      const GemmDim batch = {.extent = batches,
                             .a = side_by_side ? 1 : inner,
                             .b = side_by_side ? 1 : inner,
                             .out = 1};
      const std::int64_t step = side_by_side ? batches : 1;
      const Gemm gemm = {.batch = {batch},
                         .inner = {{.extent = inner, .a = step, .b = step, .blocks = blocks}}};
      const auto a = random_values<TestType>(batches * inner, random);
      const auto b = random_values<TestType>(batches * inner, random);
      std::vector<TestType> found(batches);
      std::vector<TestType> expected(batches);
      reference_gemm(gemm, a.data(), b.data(), expected.data());
      mtf::gemm(gemm, a.data(), b.data(), found.data(), {.isa = widest_isa(), .threads = 1});
      REQUIRE(same_bits<TestType>(found, expected));
    }
  }
}

TEMPLATE_TEST_CASE("two vectors have the bits of their definition, by threads, too", "[gemm]",
                   float, double) {
  std::mt19937 random(13);
  for (int i = 0; i < 200; ++i) {
    Gemm gemm = vector_products(1, random);
    gemm.batch.front().out = 1;
    if (i % 100 == 0) {  // enough for threads
      gemm.inner = {{.extent = 16 * 8200, .a = 32, .b = 32, .blocks = 16},
                    {.extent = 32, .a = 1, .b = 1, .blocks = 4}};
    }
    if (i % 100 == 3) {  // leaves that are too long for a table of their elements
      gemm.inner = {{.extent = 2 * 9000, .a = 40, .b = 40, .blocks = 2},
                    {.extent = 40, .a = 1, .b = 1, .blocks = 1}};
    }
    const std::int64_t elements = gemm.inner[0].extent * gemm.inner[1].extent;
    const std::int64_t terms = i % 3 == 0 ? 2 : 1;
    if (terms == 2) {
      gemm.terms = {{.a = elements, .b = elements}};
    }
    const auto a = random_values<TestType>(terms * elements, random);
    const auto b = random_values<TestType>(terms * elements, random);
    const auto before = random_values<TestType>(1, random);
    auto expected = before;
    reference_gemm(gemm, a.data(), b.data(), expected.data());
    for (const int threads : {1, 3}) {
      auto found = before;
      mtf::gemm(gemm, a.data(), b.data(), found.data(), {.isa = widest_isa(), .threads = threads});
      INFO("product " << i);
      REQUIRE(same_bits<TestType>(found, expected));
    }
  }
}

}  // namespace mtf
