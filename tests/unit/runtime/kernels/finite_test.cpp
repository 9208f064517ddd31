// What is not finite is found: in numbers of any kind, and in the middle of a pass.

#include "runtime/kernels/finite.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/kernels/cpu.h"
#include "runtime/kernels/tile_engine.h"

namespace mtf::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename T>
void check_dtype(DType dtype, double largest) {
  for (const std::size_t count : {1, 5, 64, 1000}) {
    for (const double value : {kInfinity, -kInfinity, std::nan(""), -std::nan("")}) {
      std::vector<T> numbers(count, static_cast<T>(static_cast<float>(-largest)));
      INFO(to_string(dtype) << ", " << count << " numbers, " << value);
      const auto size = static_cast<std::int64_t>(count);
      CHECK(all_finite(dtype, numbers.data(), size));
      CHECK(all_numbers(dtype, numbers.data(), size));
      numbers[count / 2] = static_cast<T>(static_cast<float>(value));
      CHECK_FALSE(all_finite(dtype, numbers.data(), size));
      CHECK(all_numbers(dtype, numbers.data(), size) == !std::isnan(value));
      CHECK(all_finite(dtype, numbers.data(), size / 2));
    }
  }
}

TEST_CASE("numbers that are not finite are told from the largest ones") {
  check_dtype<float>(DType::kF32, 3.4028234e38);
  check_dtype<double>(DType::kF64, 3.4028234e38);
  check_dtype<BFloat16>(DType::kBF16, 3.38e38);
  check_dtype<Float16>(DType::kF16, 65504);
  const std::vector<std::int32_t> whole(9, -1);
  CHECK(all_finite(DType::kI32, whole.data(), 9));
  CHECK(all_finite(DType::kF32, nullptr, 0));
}

void halve(const TileCall& /*call*/, std::span<const void* const> in, void* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    static_cast<float*>(out)[i] = static_cast<const float*>(in[0])[i] / 2;
  }
}
void square(const TileCall& /*call*/, std::span<const void* const> in, void* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const float x = static_cast<const float*>(in[0])[i];
    static_cast<float*>(out)[i] = x * x;
  }
}
void invert(const TileCall& /*call*/, std::span<const void* const> in, void* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    static_cast<float*>(out)[i] = 1 / static_cast<const float*>(in[0])[i];
  }
}

struct Seen {
  std::size_t stage = 0;
  std::int64_t begin = 0;
  std::vector<float> values;
};

// 1 / (x / 2)^2 over x itself, in registers but for the halving.
std::vector<Seen> run_pass(std::vector<float>& x, Isa isa, int threads) {
  const auto size = static_cast<std::int64_t>(x.size());
  const TileCall call{.dtype = DType::kF32, .to = DType::kF32, .args = nullptr, .isa = isa};
  const TilePass pass(
      {size}, {{.dtype = DType::kF32, .strides = {1}}},
      {{.tile = halve, .call = call, .operands = {0}, .checked = true},
       {.tile = square, .lanes = LaneFn::kSquare, .call = call, .operands = {~0}, .checked = true},
       {.tile = invert,
        .lanes = LaneFn::kReciprocal,
        .call = call,
        .operands = {~1},
        .stored = true,
        .checked = true}});
  BufferPool pool;
  std::vector<TileScratch> scratches;
  for (int thread = 0; thread < threads; ++thread) {
    scratches.push_back({.pool = &pool});
  }
  std::vector<Seen> seen;
  const std::vector<const void*> in = {x.data()};
  const std::vector<void*> out = {x.data()};
  pass.run(in, out, scratches,
           [&](std::size_t stage, const void* data, std::int64_t begin, std::int64_t count) {
             const auto* values = static_cast<const float*>(data);
             seen.push_back({.stage = stage, .begin = begin, .values = {values, values + count}});
           });
  return seen;
}

TEST_CASE("what a pass makes in between is shown where it is not finite, and only there") {
  constexpr std::size_t kPlace = 7001;
  for (const Isa isa : {Isa::kAvx2, widest_isa()}) {
    std::vector<float> x(10'001, 4.0F);
    CHECK(run_pass(x, isa, 1).empty());
    CHECK((x == std::vector<float>(10'001, 0.25F)));
    x.assign(10'001, 4.0F);
    x[kPlace] = 1e20F;  // whose square is infinite, and the result 0
    const std::vector<Seen> seen = run_pass(x, isa, 1);
    REQUIRE(seen.size() == 3);
    for (std::size_t s = 0; s < seen.size(); ++s) {
      CHECK(seen[s].stage == s);
      const auto place = kPlace - static_cast<std::size_t>(seen[s].begin);
      REQUIRE(place < seen[s].values.size());
      CHECK(seen[s].values[place] == std::array{5e19F, HUGE_VALF, 0.0F}[s]);
      CHECK(seen[s].values[place == 0 ? 1 : 0] == std::array{2.0F, 4.0F, 0.25F}[s]);
    }
    CHECK(x[kPlace] == 0);
    CHECK(std::ranges::count(x, 0.25F) == 10'000);
  }
}

TEST_CASE("what threads find is shown in order") {
  for (int round = 0; round < 20; ++round) {
    std::vector<float> x(200'000, 4.0F);
    const std::vector<std::int64_t> places = {5, 60'000, 100'001, 199'999};
    for (const std::int64_t place : places) {
      x[static_cast<std::size_t>(place)] = 1e20F;
    }
    const std::vector<Seen> seen = run_pass(x, widest_isa(), 3);
    REQUIRE(seen.size() == 3 * places.size());
    for (std::size_t i = 0; i < seen.size(); ++i) {
      CHECK(seen[i].stage == i % 3);
      const std::int64_t within = places[i / 3] - seen[i].begin;
      CHECK((within >= 0 && within < std::ssize(seen[i].values)));
    }
    CHECK(std::ranges::count(x, 0.0F) == std::ssize(places));
  }
}

}  // namespace
}  // namespace mtf::test
