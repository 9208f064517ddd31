// Element-wise functions: near the true value everywhere, and the same bits wherever an element
// stands and whatever the instruction set.

#include "runtime/vector_math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

namespace mtf {
namespace {

using Real = long double;

struct Function {
  MathFn fn;
  const char* name;
  Real (*value)(Real);
  double ulps;
};

Real sigmoid(Real x) {
  return 1 / (1 + std::exp(-x));
}

Real gelu(Real x) {
  const Real inner = std::sqrt(8 / std::acos(Real{-1})) * (x + Real{0.044715L} * x * x * x);
  return x == -std::numeric_limits<Real>::infinity() ? -Real{0} : x / (1 + std::exp(-inner));
}

Real silu(Real x) {
  return x == -std::numeric_limits<Real>::infinity() ? -Real{0} : x / (1 + std::exp(-x));
}

Real softplus(Real x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {MathFn::kExp, "exp", [](Real x) { return std::exp(x); }, 2},
      {MathFn::kExpm1, "expm1", [](Real x) { return std::expm1(x); }, 2},
      {MathFn::kLog, "log", [](Real x) { return std::log(x); }, 2},
      {MathFn::kLog1p, "log1p", [](Real x) { return std::log1p(x); }, 2},
      {MathFn::kSqrt, "sqrt", [](Real x) { return std::sqrt(x); }, 0.5},
      {MathFn::kRsqrt, "rsqrt", [](Real x) { return 1 / std::sqrt(x); }, 2},
      {MathFn::kReciprocal, "reciprocal", [](Real x) { return 1 / x; }, 0.5},
      {MathFn::kSin, "sin", [](Real x) { return std::sin(x); }, 2},
      {MathFn::kCos, "cos", [](Real x) { return std::cos(x); }, 2},
      {MathFn::kTanh, "tanh", [](Real x) { return std::tanh(x); }, 4},
      {MathFn::kSigmoid, "sigmoid", sigmoid, 4},
      {MathFn::kGelu, "gelu", gelu, 4},
      {MathFn::kSilu, "silu", silu, 4},
      {MathFn::kSoftplus, "softplus", softplus, 4}};
  return all;
}

// How far apart, in units of the last place of T at `expected`; 0 for equal limits.
template <typename T>
double ulps_between(T found, Real expected) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(found) || std::isnan(expected)) {
    return std::isnan(found) && std::isnan(expected) ? 0 : HUGE_VAL;
  }
  if (static_cast<T>(expected) == found) {
    return std::isinf(found)                                       ? 0
           : std::signbit(found) != std::signbit(expected)         ? HUGE_VAL
           : static_cast<double>(std::fabs(found - expected)) == 0 ? 0
                                                                   : 0.5;
  }
  if (std::isinf(found) || std::isinf(static_cast<T>(expected))) {
    const Real most = Limits::max();
    const bool near = std::fabs(std::isinf(found) ? expected : Real{found}) >=
                      most * (1 - 2 * Real{Limits::epsilon()});
    return near ? 1 : HUGE_VAL;
  }
  const int exponent = std::max(expected == 0 ? Limits::min_exponent : std::ilogb(expected) + 1,
                                Limits::min_exponent);
  return static_cast<double>(std::fabs(found - expected) /
                             std::ldexp(Real{1}, exponent - Limits::digits));
}

// Values from everywhere: bit patterns, moderate ranges, the ends and their neighbours.
template <typename T>
std::vector<T> samples(std::size_t n) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 random(7);
  std::vector<T> result;
  for (std::size_t i = 0; i < n; ++i) {
    result.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
  }
  for (const T range : {T(1e-3), T(1), T(2), T(10), T(100), T(800), T(1e5), T(1e9)}) {
    std::uniform_real_distribution<T> distribution(-range, range);
    for (std::size_t i = 0; i < n / 4; ++i) {
      result.push_back(distribution(random));
    }
  }
  for (const T x : {T(0),
                    Limits::denorm_min(),
                    Limits::min(),
                    T(1),
                    T(0.5),
                    T(2),
                    T(20),
                    T(40),
                    T(87.33),
                    T(88.72),
                    T(103.97),
                    T(708.39),
                    T(709.78),
                    T(745.13),
                    T(1 << 20),
                    T(1e15),
                    T(1e22),
                    Limits::max(),
                    Limits::infinity(),
                    Limits::quiet_NaN(),
                    T(1.5707963267948966),
                    T(3.141592653589793),
                    T(6381956970095103.0),
                    static_cast<T>(5.319372648326541e+255L)}) {
    for (const T y : {x, std::nextafter(x, T(0)), std::nextafter(x, Limits::infinity())}) {
      result.push_back(y);
      result.push_back(-y);
    }
  }
  return result;
}

std::vector<Isa> usable_isas() {
  std::vector<Isa> result;
  for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512}) {
    if (isa <= widest_isa()) {
      result.push_back(isa);
    }
  }
  return result;
}

template <typename T>
std::vector<T> values(MathFn fn, const std::vector<T>& x, Isa isa) {
  std::vector<T> out(x.size());
  vector_math(fn, std::span<const T>(x), isa, std::span<T>(out));
  return out;
}

// NaNs count as one, since the sign of a new one is the processor's.
template <typename T>
bool same_bits(std::span<const T> x, std::span<const T> y) {
  return std::ranges::equal(x, y, [](T a, T b) {
    return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
  });
}

}  // namespace

TEMPLATE_TEST_CASE("functions are near the true value over their whole range", "[math]", float,
                   double) {
  const std::vector<TestType> x = samples<TestType>(40000);
  for (const Function& function : functions()) {
    const std::vector<TestType> found = values(function.fn, x, widest_isa());
    double worst = 0;
    TestType where = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double ulps = ulps_between(found[i], function.value(x[i]));
      if (ulps > worst) {
        worst = ulps;
        where = x[i];
      }
    }
    INFO(function.name << "(" << std::hexfloat << where << ") is " << worst << " ulps off");
    CHECK(worst <= function.ulps);
  }
}

TEMPLATE_TEST_CASE("powers are near the true value and have C's limits", "[math]", float, double) {
  using Limits = std::numeric_limits<TestType>;
  std::vector<TestType> x;
  std::vector<TestType> y;
  const TestType ends[] = {0,
                           1,
                           2,
                           3,
                           0.5,
                           TestType(1e30),
                           Limits::denorm_min(),
                           Limits::max(),
                           Limits::infinity(),
                           Limits::quiet_NaN()};
  for (const TestType a : ends) {
    for (const TestType b : ends) {
      for (const int signs : {0, 1, 2, 3}) {
        x.push_back((signs & 1) != 0 ? -a : a);
        y.push_back((signs & 2) != 0 ? -b : b);
      }
    }
  }
  std::mt19937 random(8);
  for (int i = 0; i < 100000; ++i) {
    const auto exponent = std::uniform_real_distribution<TestType>(-30, 30)(random);
    x.push_back(std::exp2(exponent) * (i % 8 == 0 ? -1 : 1));
    const TestType most =
        TestType(Limits::max_exponent) / std::max(TestType(1), std::abs(exponent));
    const auto power = std::uniform_real_distribution<TestType>(-most, most)(random);
    y.push_back(i % 8 == 0 ? std::round(power) : power);
  }
  std::vector<TestType> found(x.size());
  vector_pow(std::span<const TestType>(x), std::span<const TestType>(y), widest_isa(),
             std::span<TestType>(found));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Real expected = std::pow(Real{x[i]}, Real{y[i]});
    INFO("pow(" << std::hexfloat << x[i] << ", " << y[i] << ") = " << found[i]);
    REQUIRE(ulps_between(found[i], expected) <= 4);
  }
  for (const Isa isa : usable_isas()) {
    std::vector<TestType> other(x.size());
    vector_pow(std::span<const TestType>(x), std::span<const TestType>(y), isa,
               std::span<TestType>(other));
    REQUIRE(same_bits<TestType>(other, found));
  }
}

TEMPLATE_TEST_CASE("an element's bits do not depend on its place or the instruction set", "[math]",
                   float, double) {
  const std::vector<TestType> x = samples<TestType>(500);
  for (const Function& function : functions()) {
    INFO(function.name);
    const std::vector<TestType> whole = values(function.fn, x, Isa::kPortable);
    for (const Isa isa : usable_isas()) {
      REQUIRE(same_bits<TestType>(values(function.fn, x, isa), whole));
      for (std::size_t begin = 0; begin < 40; ++begin) {
        const std::size_t n = 1 + begin * 7 % 37;
        std::vector<TestType> part(x.begin() + static_cast<std::ptrdiff_t>(begin),
                                   x.begin() + static_cast<std::ptrdiff_t>(begin + n));
        vector_math(function.fn, std::span<const TestType>(part), isa, std::span<TestType>(part));
        REQUIRE(same_bits<TestType>(part, std::span(whole).subspan(begin, n)));
      }
    }
  }
}

}  // namespace mtf
