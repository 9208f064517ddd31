// Remainders of f32, which are worked out in f64 where they can be, against std::fmod.

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include <catch2/catch.hpp>

#include "tests/unit/stdlib/ops/evaluate.h"

namespace mtf::tests {
namespace {

// With the sign of b, as in Python.
float modulo(float a, float b) {
  const float rest = std::fmod(a, b);
  if (rest == 0) {
    return std::copysign(0.0F, b);
  }
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

// Any bits at all, and infinities; quotients up to 2^28; and multiples, or numbers next to them.
std::pair<float, float> drawn(std::mt19937& random, int kind) {
  const auto any = [&random] { return std::bit_cast<float>(static_cast<std::uint32_t>(random())); };
  const float b = random() % 64 == 0 ? INFINITY : any();
  if (kind == 0 || !std::isfinite(b)) {
    return {any(), b};
  }
  if (kind == 1) {
    return {std::ldexp(b, static_cast<int>(random() % 29)) *
                (1 + 0x1p-23F * static_cast<float>(random() % 64)),
            b};
  }
  const float multiple = b * static_cast<float>(random() % 100'000);
  return {kind == 2 ? multiple : std::nextafter(multiple, random() % 2 == 0 ? 0.0F : b), b};
}

}  // namespace

TEST_CASE("remainders of f32 have the bits of std::fmod") {
  constexpr std::int64_t kCount = 200'000;
  std::mt19937 random(17);
  std::vector<double> a;
  std::vector<double> b;
  std::vector<float> wanted;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const auto [x, y] = drawn(random, static_cast<int>(i % 4));
    a.push_back(static_cast<double>(x));
    b.push_back(static_cast<double>(y));
    wanted.push_back(modulo(x, y));
  }
  Sketch sketch;
  const TensorType type = {.dtype = DType::kF32, .shape = Shape({{"n", kCount}})};
  const ValueId rest = sketch.call("mod", {sketch.input(type, a), sketch.input(type, b)});
  const std::vector<double> found = sketch.numbers(rest);
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto is = static_cast<float>(found[i]);
    const bool both_none = std::isnan(is) && std::isnan(wanted[i]);
    wrong +=
        !both_none && std::bit_cast<std::uint32_t>(is) != std::bit_cast<std::uint32_t>(wanted[i]);
  }
  CHECK(wrong == 0);
}

}  // namespace mtf::tests
