// Element-wise functions: near the true value everywhere, and the same bits wherever an element
// stands and whatever the instruction set.

#include "runtime/vector_math/vector_math.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/runtime/vector_math/vector_math_reference.h"

namespace mtf {
namespace {

using test::Function;
using test::functions;
using test::Real;
using test::samples;
using test::ulps_between;

std::vector<Isa> usable_isas() {
  std::vector<Isa> result;
  for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Bf16}) {
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

// MTF_MATH_DENSE=4000: some millions of values, in a minute or two.
template <typename T>
int dense_samples() {
  const char* given = std::getenv("MTF_MATH_DENSE");
  return given != nullptr ? std::stoi(given) : sizeof(T) == 4 ? 200 : 24;
}

TEMPLATE_TEST_CASE("functions are near the true value over their whole range", "[math]", float,
                   double) {
  const std::vector<TestType> x = samples<TestType>(dense_samples<TestType>());
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

// x, and f(x) as mathematics has it: NaN where it has none, limits where it has them.
struct Limit {
  MathFn fn;
  double x;
  double value;
};

const std::vector<Limit>& limits() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  static const std::vector<Limit> all = {{MathFn::kExp, -kInf, 0},
                                         {MathFn::kExp, kInf, kInf},
                                         {MathFn::kExp, -0.0, 1},
                                         {MathFn::kExpm1, -0.0, -0.0},
                                         {MathFn::kExpm1, 0, 0},
                                         {MathFn::kExpm1, -kInf, -1},
                                         {MathFn::kExpm1, kInf, kInf},
                                         {MathFn::kLog, 0, -kInf},
                                         {MathFn::kLog, -0.0, -kInf},
                                         {MathFn::kLog, 1, 0},
                                         {MathFn::kLog, -1, kNan},
                                         {MathFn::kLog, kInf, kInf},
                                         {MathFn::kLog, -kInf, kNan},
                                         {MathFn::kLog1p, -0.0, -0.0},
                                         {MathFn::kLog1p, 0, 0},
                                         {MathFn::kLog1p, -1, -kInf},
                                         {MathFn::kLog1p, -2, kNan},
                                         {MathFn::kLog1p, kInf, kInf},
                                         {MathFn::kSqrt, -0.0, -0.0},
                                         {MathFn::kSqrt, -1, kNan},
                                         {MathFn::kSqrt, kInf, kInf},
                                         {MathFn::kRsqrt, 0, kInf},
                                         {MathFn::kRsqrt, -0.0, -kInf},
                                         {MathFn::kRsqrt, kInf, 0},
                                         {MathFn::kRsqrt, -1, kNan},
                                         {MathFn::kReciprocal, 0, kInf},
                                         {MathFn::kReciprocal, -0.0, -kInf},
                                         {MathFn::kReciprocal, -kInf, -0.0},
                                         {MathFn::kSin, -0.0, -0.0},
                                         {MathFn::kSin, 0, 0},
                                         {MathFn::kSin, kInf, kNan},
                                         {MathFn::kSin, -kInf, kNan},
                                         {MathFn::kCos, -0.0, 1},
                                         {MathFn::kCos, kInf, kNan},
                                         {MathFn::kTan, -0.0, -0.0},
                                         {MathFn::kTan, kInf, kNan},
                                         {MathFn::kAsin, -0.0, -0.0},
                                         {MathFn::kAsin, 2, kNan},
                                         {MathFn::kAsin, -kInf, kNan},
                                         {MathFn::kAcos, 1, 0},
                                         {MathFn::kAcos, -2, kNan},
                                         {MathFn::kAcos, kInf, kNan},
                                         {MathFn::kAtan, -0.0, -0.0},
                                         {MathFn::kAtan, kInf, 1.5707963267948966},
                                         {MathFn::kAtan, -kInf, -1.5707963267948966},
                                         {MathFn::kSinh, -0.0, -0.0},
                                         {MathFn::kSinh, kInf, kInf},
                                         {MathFn::kSinh, -kInf, -kInf},
                                         {MathFn::kCosh, -0.0, 1},
                                         {MathFn::kCosh, -kInf, kInf},
                                         {MathFn::kTanh, -0.0, -0.0},
                                         {MathFn::kTanh, 0, 0},
                                         {MathFn::kTanh, kInf, 1},
                                         {MathFn::kTanh, -kInf, -1},
                                         {MathFn::kSigmoid, -0.0, 0.5},
                                         {MathFn::kSigmoid, kInf, 1},
                                         {MathFn::kSigmoid, -kInf, 0},
                                         {MathFn::kGelu, -0.0, -0.0},
                                         {MathFn::kGelu, 0, 0},
                                         {MathFn::kGelu, kInf, kInf},
                                         {MathFn::kGelu, -kInf, -0.0},
                                         {MathFn::kSilu, -0.0, -0.0},
                                         {MathFn::kSilu, 0, 0},
                                         {MathFn::kSilu, kInf, kInf},
                                         {MathFn::kSilu, -kInf, -0.0},
                                         {MathFn::kSoftplus, -kInf, 0},
                                         {MathFn::kSoftplus, kInf, kInf}};
  return all;
}

TEMPLATE_TEST_CASE("functions have the right limits on every instruction set", "[math]", float,
                   double) {
  for (const Isa isa : usable_isas()) {
    for (const Limit& limit : limits()) {
      const std::vector<TestType> x(20, static_cast<TestType>(limit.x));
      INFO(functions()[static_cast<std::size_t>(limit.fn)].name << "(" << limit.x << ")");
      const std::vector<TestType> wanted(20, static_cast<TestType>(limit.value));
      CHECK(same_bits<TestType>(values(limit.fn, x, isa), wanted));
    }
    for (const Function& function : functions()) {
      const std::vector<TestType> nan(20, std::numeric_limits<TestType>::quiet_NaN());
      INFO(function.name << " of NaN");
      CHECK(same_bits<TestType>(values(function.fn, nan, isa), nan));
    }
  }
}

// All pairs of the numbers where something happens, of either sign.
template <typename T>
void add_ends(std::vector<T>& x, std::vector<T>& y) {
  using Limits = std::numeric_limits<T>;
  const T ends[] = {0,
                    1,
                    2,
                    3,
                    0.5,
                    T(1e30),
                    Limits::denorm_min(),
                    Limits::max(),
                    Limits::infinity(),
                    Limits::quiet_NaN()};
  for (const T a : ends) {
    for (const T b : ends) {
      for (const int signs : {0, 1, 2, 3}) {
        x.push_back((signs & 1) != 0 ? -a : a);
        y.push_back((signs & 2) != 0 ? -b : b);
      }
    }
  }
}

// Of two arguments: near the true value, with the same bits on every instruction set.
template <typename T, typename F>
void check_pairs(const char* name, const F& fn, Real (*value)(Real, Real), const std::vector<T>& x,
                 const std::vector<T>& y) {
  const auto values_by = [&](Isa isa) {
    std::vector<T> out(x.size());
    fn(std::span<const T>(x), std::span<const T>(y), isa, std::span<T>(out));
    return out;
  };
  const std::vector<T> found = values_by(widest_isa());
  for (std::size_t i = 0; i < x.size(); ++i) {
    INFO(name << "(" << std::hexfloat << x[i] << ", " << y[i] << ") = " << found[i]);
    REQUIRE(ulps_between(found[i], value(Real{x[i]}, Real{y[i]})) <= 2);
  }
  for (const Isa isa : usable_isas()) {
    REQUIRE(same_bits<T>(values_by(isa), found));
  }
}

TEMPLATE_TEST_CASE("powers are near the true value and have C's limits", "[math]", float, double) {
  std::vector<TestType> x;
  std::vector<TestType> y;
  add_ends(x, y);
  std::mt19937 random(8);
  for (int i = 0; i < 100000; ++i) {
    const auto exponent = std::uniform_real_distribution<TestType>(-30, 30)(random);
    x.push_back(std::exp2(exponent) * (i % 8 == 0 ? -1 : 1));
    const TestType most = TestType(std::numeric_limits<TestType>::max_exponent) /
                          std::max(TestType(1), std::abs(exponent));
    const auto power = std::uniform_real_distribution<TestType>(-most, most)(random);
    y.push_back(i % 8 == 0 ? std::round(power) : power);
  }
  check_pairs<TestType>(
      "pow", [](auto... all) { vector_pow(all...); }, [](Real a, Real b) { return std::pow(a, b); },
      x, y);
}

TEMPLATE_TEST_CASE("angles of points are near the true value and have C's limits", "[math]", float,
                   double) {
  std::vector<TestType> y;
  std::vector<TestType> x;
  add_ends(y, x);
  std::mt19937 random(9);
  for (int i = 0; i < 100000; ++i) {
    std::uniform_real_distribution<TestType> exponent(-20, 20);
    y.push_back(std::exp2(exponent(random)) * (i % 2 == 0 ? -1 : 1));
    x.push_back(std::exp2(exponent(random)) * (i % 3 == 0 ? -1 : 1));
  }
  check_pairs<TestType>(
      "atan2", [](auto... all) { vector_atan2(all...); },
      [](Real a, Real b) { return std::atan2(a, b); }, y, x);
}

TEMPLATE_TEST_CASE("an element's bits do not depend on its place or the instruction set", "[math]",
                   float, double) {
  const std::vector<TestType> x = samples<TestType>(4);
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
