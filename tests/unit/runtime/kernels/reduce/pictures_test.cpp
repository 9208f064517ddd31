// Sums and extremes of pictures to their channels: many results side by side, of leaves of rows.

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/runtime/kernels/reduce/reduce_reference.h"

namespace mtf {
namespace {

// Pictures summed to their channels, which lie side by side or apart: leaves of few rows or of more
// than there are lanes, of a few channels or of more than go together.
Sized random_pictures(std::mt19937& random, ReduceKind kind) {
  constexpr std::array<std::int64_t, 10> kChannels = {1, 3, 9, 16, 64, 100, 128, 256, 300, 521};
  Sized result;
  Reduction& reduction = result.reduction;
  reduction.kind = kind;
  const std::int64_t apart = pick(random, 0, 3) == 0 ? 2 : 1;
  const std::int64_t channels = kChannels.at(static_cast<std::size_t>(pick(random, 0, 9)));
  std::int64_t stride = channels * apart;
  reduction.kept.push_back({.extent = channels, .in = apart, .out = 1});
  for (int side = 0; side < 3; ++side) {
    const std::int64_t blocks = std::int64_t{1} << pick(random, 0, 2);
    const std::int64_t extent = blocks * pick(random, 1, 4);
    reduction.reduced.insert(reduction.reduced.begin(),
                             {.extent = extent, .in = stride, .blocks = blocks});
    stride *= extent;
  }
  result.in = static_cast<std::size_t>(stride);
  result.out = static_cast<std::size_t>(channels);
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("pictures are reduced to their channels in the order of the definition",
                   "[reduce]", float, double, std::uint8_t) {
  std::mt19937 random(13);
  for (int i = 0; i < 200; ++i) {
    const Sized sized = random_pictures(random, static_cast<ReduceKind>(i % 4));
    auto in = random_values<TestType>(sized.in, random);
    for (TestType& x : in) {
      x = pick(random, 0, 9) == 0 ? static_cast<TestType>(-0.0) : x;
    }
    INFO("reduction " << i);
    require_definition(sized, in);
  }
}

TEMPLATE_TEST_CASE("pictures of narrow elements are summed as widened ones are", "[reduce]",
                   BFloat16, Float16, std::int8_t) {
  using Wide = WideOf<TestType>;
  std::mt19937 random(17);
  for (int i = 0; i < 60; ++i) {
    const Sized sized = random_pictures(random, ReduceKind::kSum);
    std::vector<TestType> in(sized.in);
    std::ranges::generate(
        in, [&] { return static_cast<TestType>(static_cast<Wide>(pick(random, -100, 100))); });
    std::vector<Wide> wide(in.size());
    std::ranges::transform(in, wide.begin(), [](TestType x) { return static_cast<Wide>(x); });
    std::vector<Wide> found(sized.out);
    const auto plan = plan_reduction(sized.reduction, narrow_dtype(TestType{}));
    mtf::reduce(*plan, in.data(), found.data());
    INFO("reduction " << i);
    REQUIRE(threads_agree(*plan, in.data(), found));
    REQUIRE(same_bits(found, reference(sized.reduction, wide.data(), sized.out)));
  }
}

}  // namespace mtf
