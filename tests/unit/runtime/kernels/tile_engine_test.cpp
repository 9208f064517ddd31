// A pass against the same calls done element by element.

#include "runtime/kernels/tile_engine.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

namespace mtf::test {
namespace {

// 2 a - 3 b + n, not commutative; sums of small integers are exact.
void mix(const TileCall& /*call*/, std::span<const void* const> in, void* out, std::size_t n) {
  const auto* a = static_cast<const float*>(in[0]);
  const auto* b = static_cast<const float*>(in[1]);
  for (std::size_t i = 0; i < n; ++i) {
    static_cast<float*>(out)[i] = 2 * a[i] - 3 * b[i] + 1;
  }
}

void widen(const TileCall& /*call*/, std::span<const void* const> in, void* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    static_cast<double*>(out)[i] = static_cast<const float*>(in[0])[i] + 0.5;
  }
}

constexpr TileCall kFloats{.dtype = DType::kF32, .to = DType::kF32, .args = nullptr};

struct Operand {
  std::vector<float> values;
  std::vector<std::int64_t> strides;

  [[nodiscard]] float at(std::span<const std::int64_t> index) const {
    return values[static_cast<std::size_t>(
        std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0}))];
  }
};

// Some of the dims, in some order.
Operand random_operand(std::mt19937& random, const std::vector<std::int64_t>& extents) {
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (random() % 2 == 0) {
    std::ranges::shuffle(order, random);
  }
  Operand operand{.values = {}, .strides = std::vector<std::int64_t>(extents.size())};
  std::int64_t stride = 1;
  const bool whole = random() % 3 == 0;
  for (const std::size_t d : order) {
    if (whole || random() % 2 == 0) {
      operand.strides[d] = stride;
      stride *= extents[d];
    }
  }
  for (std::int64_t i = 0; i < stride; ++i) {
    operand.values.push_back(static_cast<float>(random() % 100));
  }
  return operand;
}

struct Case {
  std::vector<std::int64_t> extents;
  std::vector<Operand> operands;

  [[nodiscard]] std::int64_t volume() const {
    return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
  }
  [[nodiscard]] std::vector<TileInput> inputs() const {
    std::vector<TileInput> result;
    for (const Operand& operand : operands) {
      result.push_back({.dtype = DType::kF32, .strides = operand.strides});
    }
    return result;
  }
  [[nodiscard]] std::vector<const void*> data() const {
    std::vector<const void*> result;
    for (const Operand& operand : operands) {
      result.push_back(operand.values.data());
    }
    return result;
  }
  [[nodiscard]] std::vector<std::int64_t> index(std::int64_t element) const {
    std::vector<std::int64_t> result(extents.size());
    for (std::size_t d = extents.size(); d-- > 0;) {
      result[d] = element % extents[d];
      element /= extents[d];
    }
    return result;
  }
};

Case random_case(std::mt19937& random) {
  static constexpr std::array<std::int64_t, 10> kSizes = {1, 2, 3, 7, 10, 16, 33, 130, 600, 1030};
  Case made;
  for (std::size_t d = 0; d < random() % 5; ++d) {
    const std::int64_t size = kSizes[random() % kSizes.size()];
    made.extents.push_back(made.volume() * size > 200'000 ? 2 : size);
  }
  for (int i = 0; i < 3; ++i) {
    made.operands.push_back(random_operand(random, made.extents));
  }
  return made;
}

TEST_CASE("a pass computes what element by element evaluation does, for any order of dims") {
  std::mt19937 random(3);
  BufferPool pool;
  TileScratch scratch{.pool = &pool};
  for (int round = 0; round < 600; ++round) {
    const Case one = random_case(random);
    // first = mix(0, 1); second = mix(2, first), stored; third = widen(second), stored
    const TilePass pass(one.extents, one.inputs(),
                        {{.tile = mix, .call = kFloats, .operands = {0, 1}},
                         {.tile = mix, .call = kFloats, .operands = {2, ~0}, .stored = true},
                         {.tile = widen,
                          .call = {.dtype = DType::kF32, .to = DType::kF64, .args = nullptr},
                          .operands = {~1},
                          .stored = true}});
    const auto volume = static_cast<std::size_t>(one.volume());
    std::vector<float> second(volume);
    std::vector<double> third(volume);
    const std::vector<void*> out = {second.data(), third.data()};
    pass.run(one.data(), out, scratch);
    INFO("extents " << Catch::Detail::stringify(one.extents) << " strides "
                    << Catch::Detail::stringify(one.operands[0].strides)
                    << Catch::Detail::stringify(one.operands[1].strides)
                    << Catch::Detail::stringify(one.operands[2].strides));
    std::vector<float> expected(volume);
    std::vector<double> wide(volume);
    for (std::size_t i = 0; i < volume; ++i) {
      const auto index = one.index(static_cast<std::int64_t>(i));
      const float first = 2 * one.operands[0].at(index) - 3 * one.operands[1].at(index) + 1;
      expected[i] = 2 * one.operands[2].at(index) - 3 * first + 1;
      wide[i] = expected[i] + 0.5;
    }
    REQUIRE((second == expected));
    REQUIRE((third == wide));
  }
}

TEST_CASE("a result may be written over an operand, even one that a later call reads") {
  BufferPool pool;
  TileScratch scratch{.pool = &pool};
  std::vector<float> x(5000);
  std::iota(x.begin(), x.end(), 0.0F);
  const std::vector<float> old = x;
  const std::vector<float> y(5000, 1.0F);
  const std::vector<TileInput> inputs(2, {.dtype = DType::kF32, .strides = {1}});
  const TilePass pass({5000}, inputs,
                      {{.tile = mix, .call = kFloats, .operands = {0, 1}, .stored = true},
                       {.tile = mix, .call = kFloats, .operands = {~0, 0}, .stored = true}});
  std::vector<float> other(5000);
  const std::vector<const void*> in = {x.data(), y.data()};
  const std::vector<void*> out = {x.data(), other.data()};
  pass.run(in, out, scratch);
  bool right = true;
  for (std::size_t i = 0; i < x.size(); ++i) {
    right = right && x[i] == 2 * old[i] - 2 && other[i] == 2 * x[i] - 3 * old[i] + 1;
  }
  CHECK(right);
}

// In registers, but for the third call: ((a - b) * a, mixed with c, - that of the second).
TEST_CASE("calls in registers and tile by tile follow each other, for any order of dims") {
  std::mt19937 random(4);
  BufferPool pool;
  TileScratch scratch{.pool = &pool};
  for (int round = 0; round < 600; ++round) {
    const Case one = random_case(random);
    const TilePass pass(
        one.extents, one.inputs(),
        {{.lanes = LaneFn::kSubtract, .call = kFloats, .operands = {0, 1}},
         {.lanes = LaneFn::kMultiply, .call = kFloats, .operands = {~0, 0}, .stored = true},
         {.tile = mix, .call = kFloats, .operands = {~1, 2}},
         {.lanes = LaneFn::kSubtract, .call = kFloats, .operands = {~2, ~1}, .stored = true}});
    const auto volume = static_cast<std::size_t>(one.volume());
    std::vector<float> second(volume);
    std::vector<float> last(volume);
    const std::vector<void*> out = {second.data(), last.data()};
    pass.run(one.data(), out, scratch);
    bool right = true;
    for (std::size_t i = 0; i < volume; ++i) {
      const auto index = one.index(static_cast<std::int64_t>(i));
      const float a = one.operands[0].at(index);
      const float product = (a - one.operands[1].at(index)) * a;
      right = right && second[i] == product &&
              last[i] == 2 * product - 3 * one.operands[2].at(index) + 1 - product;
    }
    INFO("extents " << Catch::Detail::stringify(one.extents));
    REQUIRE(right);
  }
}

TEST_CASE("in registers, too, a result may be written over an operand that a later call reads") {
  BufferPool pool;
  TileScratch scratch{.pool = &pool};
  std::vector<float> x(50'000);
  std::iota(x.begin(), x.end(), 0.0F);
  const std::vector<float> old = x;
  const std::vector<TileInput> inputs(1, {.dtype = DType::kF32, .strides = {1}});
  const TilePass pass(
      {50'000}, inputs,
      {{.lanes = LaneFn::kNegate, .call = kFloats, .operands = {0}, .stored = true},
       {.lanes = LaneFn::kSubtract, .call = kFloats, .operands = {~0, 0}, .stored = true}});
  std::vector<float> other(50'000);
  const std::vector<const void*> in = {x.data()};
  const std::vector<void*> out = {x.data(), other.data()};
  pass.run(in, out, scratch);
  bool right = true;
  for (std::size_t i = 0; i < x.size(); ++i) {
    right = right && x[i] == -old[i] && other[i] == -2 * old[i];
  }
  CHECK(right);
}

// Shapes that are cut by rows, by columns, and in groups of rows; operands in any order.
TEST_CASE("threads do what one does, whatever the order of dims") {
  std::mt19937 random(6);
  BufferPool pool;
  std::vector<TileScratch> scratches;
  for (int thread = 0; thread < 3; ++thread) {
    scratches.push_back({.pool = &pool});
  }
  for (int round = 0; round < 60; ++round) {
    static constexpr std::array<std::array<std::int64_t, 3>, 6> kExtents = {{{1, 1, 200'003},
                                                                             {2, 1, 90'001},
                                                                             {301, 5, 100},
                                                                             {1, 997, 130},
                                                                             {40'000, 3, 1},
                                                                             {7, 50, 301}}};
    const auto& extents = kExtents[static_cast<std::size_t>(round) % kExtents.size()];
    Case one{.extents = {extents.begin(), extents.end()}, .operands = {}};
    for (int i = 0; i < 3; ++i) {
      one.operands.push_back(random_operand(random, one.extents));
    }
    const TilePass pass(
        one.extents, one.inputs(),
        {{.lanes = LaneFn::kSubtract, .call = kFloats, .operands = {0, 1}},
         {.tile = mix, .call = kFloats, .operands = {~0, 2}, .stored = round % 2 == 0},
         {.lanes = LaneFn::kMultiply, .call = kFloats, .operands = {~1, 0}, .stored = true}});
    std::vector<std::vector<float>> results(
        4, std::vector<float>(static_cast<std::size_t>(one.volume()), -1.0F));
    const std::vector<void*> by_one = round % 2 == 0
                                          ? std::vector<void*>{results[0].data(), results[1].data()}
                                          : std::vector<void*>{results[1].data()};
    const std::vector<void*> by_three =
        round % 2 == 0 ? std::vector<void*>{results[2].data(), results[3].data()}
                       : std::vector<void*>{results[3].data()};
    pass.run(one.data(), by_one, scratches.front());
    pass.run(one.data(), by_three, scratches, {});
    INFO("extents " << Catch::Detail::stringify(one.extents));
    REQUIRE((results[0] == results[2]));
    REQUIRE((results[1] == results[3]));
  }
}

TEST_CASE("a pass over no elements does nothing, and one over a scalar one") {
  BufferPool pool;
  TileScratch scratch{.pool = &pool};
  const TileStage stage{.tile = mix, .call = kFloats, .operands = {0, 0}, .stored = true};
  const float x = 5;
  float out = -1;
  const std::vector<const void*> in = {&x};
  const std::vector<void*> outs = {&out};
  TilePass({0, 3}, {{.dtype = DType::kF32, .strides = {3, 1}}}, {stage}).run(in, outs, scratch);
  CHECK(out == -1);
  TilePass({}, {{.dtype = DType::kF32, .strides = {}}}, {stage}).run(in, outs, scratch);
  CHECK(out == -4);
}

}  // namespace
}  // namespace mtf::test
