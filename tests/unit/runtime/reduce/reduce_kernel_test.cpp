// Reductions: the bits are those of the scalar definition, whatever lies where in memory.

#include "runtime/kernels/reduce/reduce_kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/kernels/tree.h"
#include "runtime/vector_math/narrow.h"

namespace mtf {
namespace {

template <typename T>
T plain(ReduceKind kind, T x, T y) {
  T result = x;
  combine(kind, &x, &y, 1, &result);
  return result;
}

template <typename T>
DType dtype_of(T zero) {
  if constexpr (std::is_floating_point_v<T>) {
    return sizeof(zero) == 4 ? DType::kF32 : DType::kF64;
  }
  return sizeof(zero) == 1 ? DType::kU8 : sizeof(zero) == 4 ? DType::kI32 : DType::kI64;
}

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint16_t>;

template <typename T>
DType narrow_dtype(T zero) {
  if constexpr (std::is_integral_v<T>) {
    return sizeof(zero) == 1 ? DType::kI8 : DType::kI16;
  }
  return std::is_same_v<T, BFloat16> ? DType::kBF16 : DType::kF16;
}

// Whether threads give the results that one gave, which lie behind each other.
template <typename T>
bool threads_agree(const ReductionPlan& plan, const void* in, const std::vector<T>& found) {
  for (const int threads : {2, 3, 5, 7}) {
    std::vector<T> again(found.size());
    mtf::reduce(plan, in, again.data(), {.threads = threads, .least_share = 1});
    if (std::memcmp(again.data(), found.data(), found.size() * sizeof(T)) != 0) {
      return false;
    }
  }
  return true;
}

template <typename T>
void reduce(const Reduction& reduction, const T* in, T* out) {
  mtf::reduce(*plan_reduction(reduction, dtype_of(T{})), in, out);
}

template <typename T>
T identity(ReduceKind kind) {
  T result{};
  reduce({.kind = kind, .kept = {}, .reduced = {{.extent = 0}}}, &result, &result);
  return result;
}

// Offsets of all index tuples of `dims`, row-major.
std::vector<std::int64_t> offsets_of(std::span<const ReducedDim> dims) {
  std::vector<std::int64_t> result = {0};
  for (const ReducedDim& dim : dims) {
    std::vector<std::int64_t> longer;
    for (const std::int64_t offset : result) {
      for (std::int64_t i = 0; i < dim.extent; ++i) {
        longer.push_back(offset + i * dim.in);
      }
    }
    result = longer;
  }
  return result;
}

template <typename T>
T leaf_value(ReduceKind kind, std::span<const ReducedDim> dims, const T* x) {
  std::vector<T> lanes(kReduceLanes, identity<T>(kind));
  std::size_t number = 0;
  for (const std::int64_t offset : offsets_of(dims)) {
    T& lane = lanes[number++ % kReduceLanes];
    lane = plain(kind, lane, x[offset]);
  }
  for (std::size_t half = kReduceLanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) {
      lanes[l] = plain(kind, lanes[l], lanes[l + half]);
    }
  }
  return lanes[0];
}

// The value of blocks [first, first + n) of dim `d`, where the dims before it are fixed blocks.
template <typename T>
T tree_value(ReduceKind kind, std::vector<ReducedDim> dims, std::size_t d, std::int64_t n,
             const T* x) {
  if (d == dims.size()) {
    return leaf_value(kind, std::span<const ReducedDim>(dims), x);
  }
  const std::int64_t length = dims[d].extent / dims[d].blocks;
  if (n > 1) {
    const std::int64_t split = tree_split(n);
    const T left = tree_value(kind, dims, d, split, x);
    return plain(kind, left, tree_value(kind, dims, d, n - split, x + split * length * dims[d].in));
  }
  dims[d] = {.extent = length, .in = dims[d].in, .blocks = 1};
  return tree_value(kind, dims, d + 1, d + 1 < dims.size() ? dims[d + 1].blocks : 1, x);
}

template <typename T>
std::vector<T> reference(const Reduction& reduction, const T* in, std::size_t size) {
  std::vector<T> out(size);
  std::vector<ReducedDim> from;
  std::vector<ReducedDim> to;
  for (const KeptDim& dim : reduction.kept) {
    from.push_back({.extent = dim.extent, .in = dim.in});
    to.push_back({.extent = dim.extent, .in = dim.out});
  }
  const auto sources = offsets_of(from);
  const auto targets = offsets_of(to);
  const std::int64_t blocks = reduction.reduced.empty() ? 1 : reduction.reduced[0].blocks;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    out[static_cast<std::size_t>(targets[i])] =
        tree_value(reduction.kind, reduction.reduced, 0, blocks, in + sources[i]);
  }
  return out;
}

std::int64_t pick(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

template <typename T>
std::vector<T> random_values(std::size_t n, std::mt19937& random) {
  std::vector<T> values(n);
  for (T& value : values) {
    const double x = std::uniform_real_distribution<double>(-100, 100)(random);
    value = std::floating_point<T> ? static_cast<T>(x) : static_cast<T>(std::abs(x));
  }
  return values;
}

template <typename T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool both_nan = x[i] != x[i] && y[i] != y[i];
    if (!both_nan && std::memcmp(&x[i], &y[i], sizeof(T)) != 0) {
      return false;
    }
  }
  return x.size() == y.size();
}

struct Sized {
  Reduction reduction;
  std::size_t in = 1;
  std::size_t out = 1;
};

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
    std::vector<TestType> found(sized.out);
    reduce(sized.reduction, in.data(), found.data());
    INFO("reduction " << i);
    REQUIRE(
        threads_agree(*plan_reduction(sized.reduction, dtype_of(TestType{})), in.data(), found));
    REQUIRE(same_bits(found, reference(sized.reduction, in.data(), sized.out)));
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

TEMPLATE_TEST_CASE("rows of short blocks are summed in the order of the definition", "[reduce]",
                   float, double, BFloat16) {
  using Wide = std::conditional_t<std::is_same_v<TestType, double>, double, WideOf<TestType>>;
  std::mt19937 random(4);
  for (int i = 0; i < 300; ++i) {
    const bool is_narrow = !std::is_same_v<TestType, Wide>;
    const auto kind = i % 4 == 0 && !is_narrow ? ReduceKind::kProd : ReduceKind::kSum;
    const Sized sized = random_rows(random, kind);
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
    const DType stored = is_narrow ? DType::kBF16 : dtype_of(Wide{});
    const auto plan = plan_reduction(sized.reduction, stored);
    mtf::reduce(*plan, in.data(), found.data());
    INFO("reduction " << i);
    REQUIRE(threads_agree(*plan, in.data(), found));
    REQUIRE(same_bits(found, reference(sized.reduction, wide.data(), sized.out)));
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
