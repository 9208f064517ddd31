// What element-wise functions should be, in long double, and where to try them.

#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "runtime/vector_math/vector_math.h"

namespace mtf::test {

using Real = long double;

struct Function {
  MathFn fn;
  const char* name;
  Real (*value)(Real);
  double ulps;
};

inline Real sigmoid(Real x) {
  return 1 / (1 + std::exp(-x));
}

inline Real gelu(Real x) {
  const Real inner = std::sqrt(8 / std::acos(Real{-1})) * (x + Real{0.044715L} * x * x * x);
  return x == -std::numeric_limits<Real>::infinity() ? -Real{0} : x / (1 + std::exp(-inner));
}

inline Real silu(Real x) {
  return x == -std::numeric_limits<Real>::infinity() ? -Real{0} : x / (1 + std::exp(-x));
}

inline Real softplus(Real x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

inline const std::vector<Function>& functions() {
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
      {MathFn::kTan, "tan", [](Real x) { return std::tan(x); }, 4},
      {MathFn::kAsin, "asin", [](Real x) { return std::asin(x); }, 2},
      {MathFn::kAcos, "acos", [](Real x) { return std::acos(x); }, 2},
      {MathFn::kAtan, "atan", [](Real x) { return std::atan(x); }, 2},
      {MathFn::kSinh, "sinh", [](Real x) { return std::sinh(x); }, 4},
      {MathFn::kCosh, "cosh", [](Real x) { return std::cosh(x); }, 2},
      {MathFn::kTanh, "tanh", [](Real x) { return std::tanh(x); }, 4},
      {MathFn::kSigmoid, "sigmoid", sigmoid, 2},
      {MathFn::kGelu, "gelu", gelu, 4},
      {MathFn::kSilu, "silu", silu, 2},
      {MathFn::kSoftplus, "softplus", softplus, 4},
      {MathFn::kErf, "erf", [](Real x) { return std::erf(x); }, 2},
      {MathFn::kErfc, "erfc", [](Real x) { return std::erfc(x); }, 4}};
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

// `count` neighbours of `x` on both sides, and x.
template <typename T>
void add_around(T x, int count, std::vector<T>& result) {
  T below = x;
  T above = x;
  result.push_back(x);
  for (int i = 0; i < count; ++i) {
    below = std::nextafter(below, -std::numeric_limits<T>::infinity());
    above = std::nextafter(above, std::numeric_limits<T>::infinity());
    result.push_back(below);
    result.push_back(above);
  }
}

// Where something happens: ends of ranges, changes of method, zeros, and multiples of ln 2 / 2 and
// pi / 4, at which arguments are reduced to another interval.
template <typename T>
std::vector<T> turning_points() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> points = {0,
                           Limits::denorm_min(),
                           Limits::min(),
                           T(1),
                           T(20),
                           T(40),
                           T(87.33),
                           T(88.72),
                           T(103.97),
                           T(708.39),
                           T(709.78),
                           T(745.13),
                           T(200),
                           T(1300),
                           T(1e15),
                           T(1e22),
                           T(0x1p20),
                           T(0x1p40),
                           Limits::max(),
                           Limits::infinity(),
                           Limits::epsilon(),
                           Limits::quiet_NaN(),
                           T(6381956970095103.0),
                           static_cast<T>(5.319372648326541e+255L)};
  for (int i = 1; i <= 300; ++i) {
    points.push_back(static_cast<T>(i * 0.346573590279972654708616060729088284L));
    points.push_back(static_cast<T>(i * 0.785398163397448309615660845819875721L));
    points.push_back(static_cast<T>(i * 0.125L));
  }
  return points;
}

// Values from everywhere: `dense` of every exponent, of moderate ranges, and around what matters.
template <typename T>
std::vector<T> samples(int dense) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  using Limits = std::numeric_limits<T>;
  constexpr int kDigits = Limits::digits - 1;
  constexpr Bits kMantissa = (Bits{1} << kDigits) - 1;
  std::mt19937_64 random(7);
  std::vector<T> result;
  for (Bits exponent = 0; exponent < (Bits{1} << (8 * sizeof(T) - 1 - kDigits)); ++exponent) {
    for (int i = 0; i < dense; ++i) {
      const Bits mantissa = i == 0   ? 0
                            : i == 1 ? kMantissa
                                     : static_cast<Bits>(random()) & kMantissa;
      const T x = std::bit_cast<T>(static_cast<Bits>((exponent << kDigits) | mantissa));
      result.push_back(x);
      result.push_back(-x);
    }
  }
  for (const T range : {T(1e-3), T(0.1), T(1), T(2), T(10), T(100), T(800), T(1e5), T(1e9)}) {
    std::uniform_real_distribution<T> distribution(-range, range);
    for (int i = 0; i < 64 * dense; ++i) {
      result.push_back(distribution(random));
    }
  }
  for (const T point : turning_points<T>()) {
    add_around(point, 4, result);
    add_around(-point, 4, result);
  }
  return result;
}

}  // namespace mtf::test
