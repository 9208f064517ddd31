// Reductions: the bits are those of the scalar definition, whatever lies where in memory.

#include "runtime/kernels/reduce/reduce_kernel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/runtime/kernels/reduce/reduce_reference.h"

namespace mtf {
namespace {

// Up to three kept and two reduced dims, in any order in memory; now and then a long one.
Sized random_reduction(std::mt19937& random, ReduceKind kind) {
  Sized result;
  Reduction& reduction = result.reduction;
  reduction.kind = kind;
  const std::int64_t most = pick(random, 0, 3) == 0 ? 300 : 12;
  reduction.kept.resize(static_cast<std::size_t>(pick(random, 0, 2)));
  reduction.reduced.resize(static_cast<std::size_t>(pick(random, 0, 2)));
  std::vector<std::pair<std::int64_t*, std::int64_t>> strides;
  for (KeptDim& dim : reduction.kept) {
    dim.extent = pick(random, 1, most);
    strides.emplace_back(&dim.in, dim.extent);
    dim.out = static_cast<std::int64_t>(result.out);
    result.out *= static_cast<std::size_t>(dim.extent);
  }
  for (ReducedDim& dim : reduction.reduced) {
    dim.blocks = std::int64_t{1} << pick(random, 0, 4);
    dim.extent = dim.blocks * pick(random, 1, 1 + most / dim.blocks);
    strides.emplace_back(&dim.in, dim.extent);
  }
  std::ranges::shuffle(strides, random);
  for (const auto& [stride, extent] : strides) {
    *stride = static_cast<std::int64_t>(result.in);
    result.in *= static_cast<std::size_t>(extent);
  }
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("a reduction over any dims in any order has the bits of its definition",
                   "[reduce]", float, double, std::int32_t, std::int64_t, std::uint8_t) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const auto kind = static_cast<ReduceKind>(i % 4);
    const Sized sized = random_reduction(random, kind);
    if (sized.in > 100000) {
      continue;
    }
    const auto in = random_values<TestType>(sized.in, random);
    INFO("reduction " << i);
    require_definition(sized, in);
  }
}

TEMPLATE_TEST_CASE("a sum of narrow elements has the bits of the sum of widened ones", "[reduce]",
                   BFloat16, Float16, std::int8_t, std::int16_t) {
  using Wide = WideOf<TestType>;
  const DType stored = narrow_dtype(TestType{});
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const Sized sized = random_reduction(random, ReduceKind::kSum);
    if (sized.in > 100000) {
      continue;
    }
    std::vector<TestType> in(sized.in);
    std::vector<Wide> wide(sized.in);
    for (std::size_t j = 0; j < in.size(); ++j) {
      // Any bits at times: infinities, NaN and subnormals are among them.
      const auto bits = static_cast<std::uint16_t>(random());
      in[j] = static_cast<TestType>(static_cast<Wide>(pick(random, -100, 100)));
      if (i % 5 == 0 && pick(random, 0, 99) == 0) {
        in[j] = std::bit_cast<TestType>(static_cast<BitsOf<TestType>>(bits));
      }
      wide[j] = static_cast<Wide>(in[j]);
    }
    std::vector<Wide> found(sized.out);
    const auto plan = plan_reduction(sized.reduction, stored);
    mtf::reduce(*plan, in.data(), found.data());
    INFO("reduction " << i);
    REQUIRE(threads_agree(*plan, in.data(), found));
    REQUIRE(same_bits(found, reference(sized.reduction, wide.data(), sized.out)));
  }
}

// Up to two kept dims, and up to three reduced ones in the order of memory, the last side by side,
// or next to it a kept one; zeros of both signs among the values.
Sized random_rows(std::mt19937& random, ReduceKind kind) {
  Sized result;
  Reduction& reduction = result.reduction;
  reduction.kind = kind;
  reduction.reduced.resize(static_cast<std::size_t>(pick(random, 1, 3)));
  for (std::size_t d = reduction.reduced.size(); d-- > 0;) {
    ReducedDim& dim = reduction.reduced[d];
    dim.blocks = std::int64_t{1} << pick(random, d > 0 || pick(random, 0, 1) == 0 ? 1 : 0, 4);
    dim.extent = dim.blocks * pick(random, 1, d + 1 < reduction.reduced.size() ? 3 : 33);
    dim.in = static_cast<std::int64_t>(result.in);
    result.in *= static_cast<std::size_t>(dim.extent);
    if (pick(random, 0, 2) == 0) {
      KeptDim& kept = reduction.kept.emplace_back();
      kept.extent = pick(random, 1, 5);
      kept.in = static_cast<std::int64_t>(result.in);
      kept.out = static_cast<std::int64_t>(result.out);
      result.in *= static_cast<std::size_t>(kept.extent);
      result.out *= static_cast<std::size_t>(kept.extent);
    }
  }
  return result;
}

// Images of planes, summed over all but the planes: blocks of one or two rows, and of columns from
// one to more than there are lanes, so that leaves of whole rows of memory, or of several, are one
// group.
Sized random_planes(std::mt19937& random, ReduceKind kind) {
  Sized result;
  const std::int64_t planes = pick(random, 1, 3);
  const std::int64_t row_blocks = std::int64_t{1} << pick(random, 0, 4);
  const std::int64_t rows = row_blocks * pick(random, 1, 2);
  const std::int64_t col_blocks = std::int64_t{1} << pick(random, 1, 4);
  const std::int64_t cols = col_blocks << pick(random, 0, 6);
  const std::int64_t batch_blocks = std::int64_t{1} << pick(random, 0, 2);
  const std::int64_t batch = batch_blocks * pick(random, 1, 5);
  result.reduction = {
      .kind = kind,
      .kept = {{.extent = planes, .in = rows * cols, .out = 1}},
      .reduced = {{.extent = batch, .in = planes * rows * cols, .blocks = batch_blocks},
                  {.extent = rows, .in = cols, .blocks = row_blocks},
                  {.extent = cols, .in = 1, .blocks = col_blocks}}};
  result.in = static_cast<std::size_t>(batch * planes * rows * cols);
  result.out = static_cast<std::size_t>(planes);
  return result;
}

TEMPLATE_TEST_CASE("rows of short blocks are summed in the order of the definition", "[reduce]",
                   float, double, BFloat16, Float16) {
  using Wide = std::conditional_t<std::is_same_v<TestType, double>, double, WideOf<TestType>>;
  std::mt19937 random(4);
  for (int i = 0; i < 600; ++i) {
    const bool is_narrow = !std::is_same_v<TestType, Wide>;
    const auto kind = i % 5 == 0 && !is_narrow ? ReduceKind::kProd : ReduceKind::kSum;
    const Sized sized = i % 2 == 0 ? random_rows(random, kind) : random_planes(random, kind);
    if (sized.in > 50000) {
      continue;
    }
    std::vector<TestType> in(sized.in);
    std::vector<Wide> wide(sized.in);
    for (std::size_t j = 0; j < in.size(); ++j) {
      const double x = std::uniform_real_distribution<double>(-2, 2)(random);
      in[j] =
          static_cast<TestType>(static_cast<Wide>(pick(random, 0, 3) > 0 || i % 3 > 0 ? x : -0.0));
      wide[j] = static_cast<Wide>(in[j]);
    }
    std::vector<Wide> found(sized.out);
    const auto plan = plan_reduction(sized.reduction, stored_dtype(TestType{}));
    mtf::reduce(*plan, in.data(), found.data());
    INFO("reduction " << i);
    REQUIRE(threads_agree(*plan, in.data(), found));
    REQUIRE(same_bits(found, reference(sized.reduction, wide.data(), sized.out)));
  }
}

// Blocks of `rows` x `run` elements, in two or three in both directions, of a few results that lie
// around them or between them.
Sized rows_of_runs(std::int64_t rows, std::int64_t run, std::int64_t results, bool inside) {
  Sized result;
  const std::int64_t width = 3 * run;
  const std::int64_t apart = inside ? results : 1;
  result.reduction = {.kept = {{.extent = results, .in = inside ? 1 : 2 * rows * width, .out = 1}},
                      .reduced = {{.extent = 2 * rows, .in = width * apart, .blocks = 2},
                                  {.extent = width, .in = apart, .blocks = 3}}};
  result.in = static_cast<std::size_t>(2 * rows * width * results);
  result.out = static_cast<std::size_t>(results);
  return result;
}

TEMPLATE_TEST_CASE("runs of any length are summed in the order of the definition", "[reduce]",
                   float, double, std::int64_t) {
  std::mt19937 random(5);
  for (const std::int64_t run : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 62, 127, 129}) {
    for (const std::int64_t rows : {1, 2, 33, 70}) {
      for (const std::int64_t results : {1, 3, 7, 10, 70}) {
        const Sized sized = rows_of_runs(rows, run, results, run % 2 == 0);
        if (sized.in > 60000) {
          continue;
        }
        const auto in = random_values<TestType>(sized.in, random);
        std::vector<TestType> found(sized.out);
        reduce(sized.reduction, in.data(), found.data());
        INFO(rows << " x " << run << ", " << results << " results");
        REQUIRE(same_bits(found, reference(sized.reduction, in.data(), sized.out)));
      }
    }
  }
}

TEST_CASE("a sum of short rows of negative zeros is zero", "[reduce]") {
  const std::vector<float> in(256, -0.0F);
  for (const std::int64_t row : {16, 32, 48, 64, 128, 256}) {
    const Reduction reduction = {.kept = {{.extent = 1, .in = row, .out = 1}},
                                 .reduced = {{.extent = row, .in = 1, .blocks = 16}}};
    float found = 1;
    reduce(reduction, in.data(), &found);
    REQUIRE(found == 0.0F);
    REQUIRE_FALSE(std::signbit(found));
  }
}

TEST_CASE("a sum of all negative zeros of rows is zero", "[reduce]") {
  for (const std::int64_t rows : {2, 40, 9000}) {  // of so many there are pieces of a leaf
    for (const std::int64_t run : {2, 3, 8}) {
      const std::int64_t row = 4 * run;
      const std::vector<float> in(static_cast<std::size_t>(rows * row), -0.0F);
      const Reduction reduction = {
          .kept = {},
          .reduced = {{.extent = rows, .in = row}, {.extent = row, .in = 1, .blocks = 4}}};
      float found = 1;
      reduce(reduction, in.data(), &found);
      INFO(rows << " x " << run);
      REQUIRE(found == 0.0F);
      REQUIRE_FALSE(std::signbit(found));
    }
  }
}

TEST_CASE("ranks that each own consecutive blocks add up to the bits of one rank", "[reduce]") {
  std::mt19937 random(2);
  const std::int64_t n = 16 * 37;
  const std::int64_t kept = 21;
  const auto in = random_values<float>(static_cast<std::size_t>(n * kept), random);
  for (const bool contiguous : {false, true}) {
    Reduction reduction = {.kept = {{.extent = kept, .in = contiguous ? n : 1, .out = 1}},
                           .reduced = {{.extent = n, .in = contiguous ? 1 : kept, .blocks = 16}}};
    std::vector<float> whole(kept);
    reduce(reduction, in.data(), whole.data());
    for (const std::int64_t ranks : {2, 4, 8, 16}) {
      reduction.reduced[0].extent = n / ranks;
      reduction.reduced[0].blocks = 16 / ranks;
      std::vector<std::vector<float>> parts(static_cast<std::size_t>(ranks), whole);
      for (std::int64_t r = 0; r < ranks; ++r) {
        reduce(reduction, in.data() + r * (n / ranks) * reduction.reduced[0].in,
               parts[static_cast<std::size_t>(r)].data());
      }
      for (std::size_t step = 1; step < parts.size(); step *= 2) {
        for (std::size_t r = 0; r < parts.size(); r += 2 * step) {
          combine(ReduceKind::kSum, parts[r].data(), parts[r + step].data(), kept, parts[r].data());
        }
      }
      INFO(ranks << " ranks");
      REQUIRE(same_bits(parts[0], whole));
    }
  }
}

TEST_CASE("maximum and minimum keep NaN, order zeros by sign and ignore order", "[reduce]") {
  const float nan = std::nanf("");
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {0.0F, -0.0F, 1.0F, -1.0F, nan, infinity, -infinity};
  for (const ReduceKind kind : {ReduceKind::kMax, ReduceKind::kMin}) {
    for (const float x : values) {
      for (const float y : values) {
        const float xy = plain(kind, x, y);
        const float yx = plain(kind, y, x);
        REQUIRE(std::memcmp(&xy, &yx, sizeof xy) == 0);
        REQUIRE(std::isnan(xy) == (std::isnan(x) || std::isnan(y)));
      }
    }
  }
  REQUIRE_FALSE(std::signbit(plain(ReduceKind::kMax, -0.0F, 0.0F)));
  REQUIRE(std::signbit(plain(ReduceKind::kMin, 0.0F, -0.0F)));
  REQUIRE(plain(ReduceKind::kMax, 2.0F, infinity) == infinity);
}

TEMPLATE_TEST_CASE("maxima and minima of arrays have the bits of their elements' ones", "[reduce]",
                   float, double) {
  using Limits = std::numeric_limits<TestType>;
  const std::vector<TestType> values = {0,
                                        TestType(-0.0),
                                        1,
                                        -1,
                                        Limits::denorm_min(),
                                        Limits::infinity(),
                                        -Limits::infinity(),
                                        Limits::quiet_NaN(),
                                        -Limits::quiet_NaN(),
                                        Limits::signaling_NaN()};
  std::vector<TestType> left;
  std::vector<TestType> right;
  for (const TestType x : values) {
    left.insert(left.end(), values.size(), x);
    right.insert(right.end(), values.begin(), values.end());
  }
  for (const ReduceKind kind : {ReduceKind::kMax, ReduceKind::kMin}) {
    std::vector<TestType> found(left.size());
    combine(kind, left.data(), right.data(), static_cast<std::int64_t>(left.size()), found.data());
    for (std::size_t i = 0; i < left.size(); ++i) {
      const TestType one = plain(kind, left[i], right[i]);
      const bool is_nan = std::isnan(left[i]) || std::isnan(right[i]);
      REQUIRE(std::memcmp(&found[i], &one, sizeof one) == 0);
      REQUIRE((is_nan ? std::isnan(one) && !std::signbit(one)
                      : one == (kind == ReduceKind::kMax ? std::max(left[i], right[i])
                                                         : std::min(left[i], right[i]))));
    }
  }
}

TEST_CASE("an empty reduction is the identity", "[reduce]") {
  REQUIRE(identity<float>(ReduceKind::kSum) == 0.0F);
  REQUIRE(identity<double>(ReduceKind::kProd) == 1.0);
  REQUIRE(identity<float>(ReduceKind::kMax) == -std::numeric_limits<float>::infinity());
  REQUIRE(identity<std::int32_t>(ReduceKind::kMin) == std::numeric_limits<std::int32_t>::max());
  REQUIRE(identity<std::uint8_t>(ReduceKind::kMax) == 0);
}

TEST_CASE("integers wrap", "[reduce]") {
  const std::int32_t most = std::numeric_limits<std::int32_t>::max();
  REQUIRE(plain<std::int32_t>(ReduceKind::kSum, most, 1) ==
          std::numeric_limits<std::int32_t>::min());
  REQUIRE(plain<std::int32_t>(ReduceKind::kProd, most, 2) == -2);
}

TEST_CASE("nested trees merge what the definition merges", "[reduce]") {
  REQUIRE(combine_tree_blocks(std::vector<std::int64_t>{4}) == std::vector<int>{0, 1, 0, 2});
  REQUIRE(combine_tree_blocks(std::vector<std::int64_t>{3}) == std::vector<int>{0, 1, 1});
  REQUIRE(combine_tree_blocks(std::vector<std::int64_t>{2, 2}) == std::vector<int>{0, 1, 0, 2});
  REQUIRE(combine_tree_blocks(std::vector<std::int64_t>{}) == std::vector<int>{0});
}

}  // namespace mtf
