// Elementary functions of doubles, written once over a register type `V` (a vector or a plain
// double) with IEEE operations, fma and selections only: hence the same bits in every lane of every
// instruction set.
//
// "Short" ones are accurate to 2^-32, for results that are rounded to float. Included only by
// vector_math_*.cpp, each with a `V` of internal linkage, as in gemm_kernel_impl.h.

#pragma once

#include <cstdint>
#include <limits>

namespace mtf {

template <typename V>
struct Core {
  using D = typename V::Double;
  using U = typename V::Bits;  // of one double per lane

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  static constexpr double kPerLn2 = 0x1.71547652b82fep+0;
  static constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  static constexpr double kLn2Short = 0x1.62e42fefa2000p-1;  // times 2^13 still exact
  static constexpr double kLn2Rest = 0x1.9ef35793c7673p-41;

  // A sum that is not rounded: |low| <= ulp(high) / 2.
  struct Pair {
    D high;
    D low;
  };

  static D set(double x) { return V::set(x); }

  template <typename Mask>
  static D select(Mask mask, D yes, D no) {
    return V::select(mask, yes, no);
  }

  static Pair two_sum(D x, D y) {
    const D high = x + y;
    const D part = high - x;
    return {high, (x - (high - part)) + (y - part)};
  }

  // Requires |x| >= |y|.
  static Pair fast_two_sum(D x, D y) {
    const D high = x + y;
    return {high, y - (high - x)};
  }

  static Pair two_product(D x, D y) {
    const D high = x * y;
    return {high, V::fma(x, y, -high)};
  }

  static Pair product(Pair x, Pair y) {
    const Pair high = two_product(x.high, y.high);
    return fast_two_sum(high.high, high.low + (x.high * y.low + x.low * y.high));
  }

  static D abs(D x) { return V::number(V::bits(x) & ~(std::uint64_t{1} << 63)); }

  static D copy_sign(D size, D sign) {
    const std::uint64_t bit = std::uint64_t{1} << 63;
    return V::number((V::bits(size) & ~bit) | (V::bits(sign) & bit));
  }

  static D at_least(D x, double low) { return select(x < low, set(low), x); }  // keeps NaN
  static D at_most(D x, double high) { return select(x > high, set(high), x); }
  static D clamp(D x, double low, double high) { return at_most(at_least(x, low), high); }

  // Coefficients from the highest power down.
  template <typename... Rest>
  static D polynomial(D x, double first, Rest... rest) {
    D sum = set(first);
    ((sum = V::fma(sum, x, set(rest))), ...);
    return sum;
  }

  // The nearest integer (to even); requires |x| < 2^51. `bits` hold it in their low half.
  struct Integer {
    D value;
    U bits;
  };

  static Integer nearest(D x) {
    const D shifted = x + set(0x1.8p52);
    return {shifted - set(0x1.8p52), V::bits(shifted)};
  }

  // 2^n for n in [-1022, 1023].
  static D power_of_two(Integer n) { return V::number((n.bits + 1023) << 52); }

  // x * 2^n with one rounding, while x * 2^(n/2) is normal; requires n in [-2044, 2046].
  static D scale(D x, Integer n) {
    const Integer half = nearest(n.value * set(0.5));
    return x * power_of_two(half) * power_of_two(nearest(n.value - half.value));
  }

  // exp(x) = (1 + rest) * 2^n with |rest| < 0.42.
  struct Exponential {
    D rest;
    Integer n;
  };

  static Exponential exponential_short(D x) {
    const Integer n = nearest(x * set(kPerLn2));
    const D r = V::fma(n.value, set(-kLn2), x);
    const D tail =
        polynomial(r, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2);
    return {V::fma(tail * r, r, r), n};
  }

  static D exp_short(D x) {
    const Exponential e = exponential_short(clamp(x, -120, 100));
    const D two = power_of_two(e.n);
    return V::fma(e.rest, two, two);
  }

  static D expm1_short(D x) {
    const Exponential e = exponential_short(clamp(x, -120, 100));
    const D two = power_of_two(e.n);
    return V::fma(e.rest, two, two - set(1));
  }

  // Of high + low, where low is small beside high.
  static Exponential exponential(Pair x) {
    const Integer n = nearest(x.high * set(kPerLn2));
    const D high = V::fma(n.value, set(-kLn2Short), x.high);  // exact
    const D low = V::fma(n.value, set(-kLn2Rest), x.low);
    const D r = high + low;
    const D error = low - (r - high);
    const D tail = polynomial(r, 1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                              1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24,
                              1.0 / 6, 1.0 / 2);
    return {r + V::fma(tail * r, r, error), n};
  }

  // x = m * 2^k with m in [sqrt(1/2), sqrt(2)).
  struct Mantissa {
    D m;
    D k;
  };

  // Requires a normal x > 0.
  static Mantissa normal_mantissa(D x) {
    constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcd;  // bits of sqrt(1/2)
    constexpr std::uint64_t kTwo52 = 0x4330000000000000;
    constexpr std::uint64_t kBias = 2048;
    const U bits = V::bits(x) + ((kBias << 52) - kRootHalf);
    const D k = V::number((bits >> 52) | kTwo52) - set(0x1p52 + kBias);
    return {V::number((bits & 0x000fffffffffffff) + kRootHalf), k};
  }

  static Mantissa mantissa(D x) {
    const auto tiny = x < std::numeric_limits<double>::min();
    const Mantissa result = normal_mantissa(select(tiny, x * set(0x1p54), x));
    return {result.m, select(tiny, result.k - set(54), result.k)};
  }

  // log at the ends: of 0, of infinity, of what is negative or NaN.
  static D with_log_limits(D x, D log) {
    const D finite = select(x == kInfinity, x, log);
    return select(x == 0.0, set(-kInfinity), select(x > 0.0, finite, set(kNan)));
  }

  // log(1 + f) + k ln 2; f = m - 1 of a mantissa.
  static D log_sum_short(D f, D k) {
    const D s = f / (f + set(2));
    const D z = s * s;
    const D series =
        polynomial(z, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0);
    return V::fma(s, series, k * set(kLn2));
  }

  // The same, plus a small `correction`.
  static D log_sum(D f, D k, D correction) {
    const D s = f / (f + set(2));
    const D z = s * s;
    const D series =
        z * polynomial(z, 1.479819860511658591e-01, 1.531383769920937332e-01,
                       1.818357216161805012e-01, 2.222219843214978396e-01, 2.857142874366239149e-01,
                       3.999999999940941908e-01, 6.666666666666735130e-01);
    const D half = set(0.5) * f * f;
    const D low = V::fma(s, half + series, V::fma(k, set(kLn2Rest), correction));
    return V::fma(k, set(kLn2Short), -((half - low) - f));
  }

  // The cases of pow(x, y) that are not `power` = exp(y log |x|).
  static D with_power_limits(D x, D y, D power) {
    const D size = abs(x);
    const auto whole = V::floor(y) == y;
    const auto odd = whole & (V::floor(y * set(0.5)) != y * set(0.5));
    const D signed_power = select(odd, copy_sign(power, x), power);
    const D number = select((x < 0.0) & (size != kInfinity), select(whole, signed_power, set(kNan)),
                            signed_power);
    const auto is_one = (y == 0.0) | (x == 1.0) | ((size == 1.0) & (abs(y) == kInfinity));
    return select(is_one, set(1), number);
  }
};

}  // namespace mtf
