// bf16, f16, i8 and i16: every pattern, and every place between two of them.

#include "runtime/vector_math/narrow.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <immintrin.h>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

namespace mtf::tests {
namespace {

constexpr std::uint32_t kPatterns = 1U << 16U;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename T>
T of_bits(std::uint32_t bits) {
  T value;
  value.bits = static_cast<std::uint16_t>(bits);
  return value;
}

// What a pattern stands for, by the definition of the formats.
double value_of(std::uint32_t bits, int digits) {
  const int exponent_bits = 16 - digits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto fraction = static_cast<double>(bits & ((1U << (digits - 1)) - 1U));
  const auto exponent = static_cast<int>(bits >> (digits - 1) & ((1U << exponent_bits) - 1U));
  const double sign = bits >> 15U != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction == 0 ? sign * kInfinity : std::numeric_limits<double>::quiet_NaN();
  }
  const double implied = exponent == 0 ? 0 : std::ldexp(1.0, digits - 1);
  return sign * std::ldexp(implied + fraction, std::max(exponent, 1) - bias - (digits - 1));
}

bool same(double a, double b) {
  return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
}

template <typename T>
int wrong_patterns(int digits) {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < kPatterns; ++bits) {
    const auto wide = static_cast<float>(of_bits<T>(bits));
    const bool is_nan = wide != wide;
    const std::uint32_t back = T(wide).bits;
    const std::uint32_t quiet = is_nan ? 1U << (digits - 2) : 0U;
    wrong += same(wide, value_of(bits, digits)) && back == (bits | quiet) ? 0 : 1;
  }
  return wrong;
}

// Of all neighbours, and what lies between them: the middle goes to the even one.
template <typename T>
int wrong_neighbours(std::uint32_t infinity) {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < infinity; ++bits) {
    const double low = static_cast<double>(of_bits<T>(bits));
    const bool last = bits + 1 == infinity;
    const double gap = last ? low - static_cast<double>(of_bits<T>(bits - 1))
                            : static_cast<double>(of_bits<T>(bits + 1)) - low;
    const double middle = low + gap / 2;
    const std::uint32_t even = bits + (bits & 1U);
    for (const double sign : {1.0, -1.0}) {
      const std::uint32_t minus = sign < 0 ? 0x8000U : 0U;
      const auto is = [&](double x, std::uint32_t wanted) {
        wrong += T(sign * x).bits == (wanted | minus) ? 0 : 1;
        const auto rounded = static_cast<float>(x);  // the same, where it is a float
        wrong +=
            rounded != x || T(static_cast<float>(sign) * rounded).bits == (wanted | minus) ? 0 : 1;
      };
      is(low, bits);
      is(middle, even);
      is(std::nextafter(middle, 0.0), bits);
      is(std::nextafter(middle, INFINITY), bits + 1);
      is(low + gap * 0.25, bits);
      is(low + gap * 0.75, bits + 1);
    }
  }
  return wrong;
}

TEST_CASE("each pattern of bf16 and f16 is the number that it stands for, and comes back") {
  CHECK(wrong_patterns<BFloat16>(8) == 0);
  CHECK(wrong_patterns<Float16>(11) == 0);
}

TEST_CASE("numbers are rounded once, to the nearest, ties to even, subnormals too") {
  CHECK(wrong_neighbours<BFloat16>(0x7F80U) == 0);
  CHECK(wrong_neighbours<Float16>(0x7C00U) == 0);
  CHECK(BFloat16(1e300).bits == 0x7F80U);
  CHECK(Float16(-1e300).bits == 0xFC00U);
  CHECK(BFloat16(1e-300).bits == 0);
  CHECK(Float16(-1e-300).bits == 0x8000U);
}

TEST_CASE("f16 is converted as the processor does it") {
  int wrong = 0;
  for (std::uint64_t i = 0; i < std::uint64_t{1} << 32U; i += 9973) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(i));
    wrong += Float16(x).bits == _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT) ? 0 : 1;
  }
  for (std::uint32_t bits = 0; bits < kPatterns; ++bits) {
    const float x = _cvtsh_ss(static_cast<std::uint16_t>(bits));
    const auto found = static_cast<float>(of_bits<Float16>(bits));
    wrong += std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(found) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

template <typename T>
void check_arrays(DType dtype) {
  std::vector<T> all(kPatterns);
  for (std::uint32_t bits = 0; bits < kPatterns; ++bits) {
    all[bits] = of_bits<T>(bits);
  }
  std::vector<float> wide(kPatterns);
  widen(dtype, all.data(), all.size(), wide.data());
  std::vector<T> back(kPatterns);
  narrow(dtype, wide.data(), wide.size(), back.data());
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < kPatterns; ++bits) {
    const auto one = static_cast<float>(all[bits]);
    wrong +=
        std::memcmp(&one, &wide[bits], sizeof one) == 0 && T(one).bits == back[bits].bits ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("arrays are converted as their elements are") {
  check_arrays<BFloat16>(DType::kBF16);
  check_arrays<Float16>(DType::kF16);
  const std::vector<std::int32_t> wide = {1, -1, 127, 128, -129, 65535, 1 << 20};
  std::vector<std::int8_t> bytes(wide.size());
  narrow(DType::kI8, wide.data(), wide.size(), bytes.data());
  CHECK(bytes == std::vector<std::int8_t>{1, -1, 127, -128, 127, -1, 0});
}

// Numbers between all neighbours of f16 and around them, NaN of every bit, and some of all others.
std::vector<float> floats_to_round() {
  std::vector<float> floats;
  const auto add = [&floats](std::uint32_t bits) {
    floats.push_back(std::bit_cast<float>(bits));
    floats.push_back(std::bit_cast<float>(bits | 0x80000000U));
  };
  for (std::uint32_t bits = 0; bits < 0x7C00U; ++bits) {
    const auto low = static_cast<float>(of_bits<Float16>(bits));
    const auto high = bits == 0x7BFFU ? 0x1p16F : static_cast<float>(of_bits<Float16>(bits + 1));
    const auto middle = std::bit_cast<std::uint32_t>(low + (high - low) / 2);
    for (const std::uint32_t at : {middle, middle - 1, middle + 1}) {
      add(at);
    }
  }
  for (std::uint32_t bit = 0; bit < 23; ++bit) {
    add(0x7F800000U | 1U << bit);
    add(0x7FC00000U | 1U << bit);
  }
  for (std::uint64_t bits = 0; bits <= 0x7FFFFFFFU; bits += 1021) {
    add(static_cast<std::uint32_t>(bits));
  }
  return floats;
}

TEST_CASE("arrays of f16 are rounded as their elements are, ties and every kind of NaN too") {
  const std::vector<float> floats = floats_to_round();
  std::vector<Float16> rounded(floats.size());
  narrow(DType::kF16, floats.data(), floats.size(), rounded.data());
  int wrong = 0;
  for (std::size_t i = 0; i < floats.size(); ++i) {
    wrong += rounded[i].bits == Float16(floats[i]).bits ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("arrays of f16 may begin anywhere and have any length; nothing behind them is written") {
  constexpr std::size_t kMost = 40;
  std::vector<Float16> stored(2 * kMost);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    stored[i] = Float16(static_cast<float>(i) / 7);
  }
  int wrong = 0;
  for (std::size_t first = 0; first < kMost; ++first) {
    for (std::size_t n = 0; n <= kMost; ++n) {
      std::vector<float> wide(n + 1, -1);
      widen(DType::kF16, stored.data() + first, n, wide.data());
      std::vector<Float16> back(n + 1, Float16(-1.0F));
      narrow(DType::kF16, wide.data(), n, back.data());
      wrong += wide[n] == -1 && back[n].bits == Float16(-1.0F).bits ? 0 : 1;
      wrong += std::memcmp(back.data(), stored.data() + first, n * sizeof(Float16)) == 0 ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace mtf::tests
