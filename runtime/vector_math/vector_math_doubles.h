// Functions of doubles; where a result can be as small as an exponential makes it, its argument is
// carried in two doubles.

#pragma once

#include "runtime/vector_math/vector_math_bell.h"

namespace mtf {

template <typename V>
struct DoubleMath : Bells<V> {
  using Base = Bells<V>;
  using Base::abs;
  using Base::select;
  using Base::set;
  using typename Base::D;
  using typename Base::Exponential;
  using typename Base::Pair;

  static D exp(D x) {
    const Exponential e = Base::exponential({Base::clamp(x, -760, 720), set(0)});
    return Base::scale(set(1) + e.rest, e.n);
  }

  static D expm1_sum(D x) {
    const Exponential e = Base::exponential({Base::clamp(x, -45, 709.79), set(0)});
    const D half = Base::power_of_two(Base::nearest(e.n.value - set(1)));
    return select(e.n.value == 0.0, e.rest, set(2) * V::fma(half, e.rest, half - set(0.5)));
  }

  static D expm1(D x) { return select(x == 0.0, x, expm1_sum(x)); }

  static D log(D x) {
    const auto part = Base::mantissa(x);
    return Base::with_log_limits(x, Base::log_sum(part.m - set(1), part.k, set(0)));
  }

  static D log1p_sum(D x) {
    const D u = x + set(1);
    const auto part = Base::mantissa(u);
    const D lost = select(x > 1.0, set(1) - (u - x), x - (u - set(1))) / u;
    const auto near = part.k == 0.0;
    return Base::with_log_limits(
        u, Base::log_sum(select(near, x, part.m - set(1)), part.k, select(near, set(0), lost)));
  }

  static D log1p(D x) { return select(x == 0.0, x, log1p_sum(x)); }
  static D sqrt(D x) { return V::sqrt(x); }
  static D rsqrt(D x) { return set(1) / V::sqrt(x); }
  static D reciprocal(D x) { return set(1) / x; }

  static D sin(D x) { return select(x == 0.0, x, Base::sine_of(Base::reduce(x))); }

  static D cos(D x) {
    auto angle = Base::reduce(x);
    angle.quadrant = angle.quadrant + 1;
    return Base::sine_of(angle);
  }

  static D tan(D x) { return select(x == 0.0, x, Base::tangent_of(Base::reduce(x))); }

  // exp(x) / 2, which is finite a little longer than exp(x).
  static D half_exp(D x) {
    const Exponential e = Base::exponential({Base::at_most(x, 720), set(0)});
    return Base::scale(set(0.5) * (set(1) + e.rest), e.n);
  }

  static D sinh(D x) {
    const D size = abs(x);
    const D e = expm1_sum(size);
    const D near = set(0.5) * (e + e / (e + set(1)));
    return Base::copy_sign(select(size > 22.0, half_exp(size), near), x);
  }

  static D cosh(D x) {
    const D half = half_exp(abs(x));
    return half + set(0.25) / half;
  }

  static D tanh(D x) {
    const D t = expm1_sum(set(2) * Base::at_most(abs(x), 22));
    return Base::copy_sign(t / (t + set(2)), x);
  }

  // x / (1 + exp(-inner)), where the exponential is scaled last: it may be far below what x makes
  // of it. Requires x > -1400 and |inner| < 1400.
  static D gated(D x, Pair inner) {
    const auto left = inner.high < 0.0;
    const Exponential e =
        Base::exponential({-abs(inner.high), select(left, inner.low, -inner.low)});
    const D factor = set(1) + e.rest;
    const D factor_low = e.rest - (factor - set(1));
    const D small = Base::scale(factor, e.n);
    const D sum = set(1) + small;
    const D sum_low = small - (sum - set(1));
    const D above = select(left, x * factor, x);
    const D above_low = select(left, V::fma(x, factor, -above) + x * factor_low, set(0));
    // The quotient, and what its rounding and that of both sides took from it.
    const D inverse = set(1) / sum;
    const D near = above * inverse;
    const D lost = V::fma(-near, sum, above) + (above_low - near * sum_low);
    const auto plain = (above == 0.0) | (above == Base::kInfinity);
    const D quotient = select(plain, near, V::fma(lost, inverse, near));
    return select(left, Base::scale(quotient, e.n), quotient);
  }

  static D sigmoid(D x) { return gated(set(1), {Base::clamp(x, -800, 800), set(0)}); }

  // Left of the bounds the results are -0; right of those on `inner` they are x.
  static D silu(D x) {
    const D bounded = Base::at_least(x, -800);
    return gated(bounded, {Base::at_most(bounded, 800), set(0)});
  }

  static D gelu(D x) {
    const Pair two_root = {set(0x1.9884533d43651p+0), set(-0x1.cbc0d30ebfd15p-54)};
    const Pair cubic = {set(0x1.6e4e26d4801f7p-5), set(0x1.441355475a31ap-59)};
    const D bounded = Base::at_least(x, -40);
    const D near = Base::at_most(bounded, 40);
    const Pair square = Base::product(Base::two_product(near, near), cubic);
    const Pair sum = Base::two_sum(set(1), square.high);
    const Pair inner =
        Base::product(Base::product({sum.high, sum.low + square.low}, two_root), {near, set(0)});
    const auto far = abs(inner.high) > 1300.0;
    return gated(bounded, {Base::clamp(inner.high, -1300, 1300), select(far, set(0), inner.low)});
  }

  static D exp_of(D high, D low) {
    const Exponential e = Base::exponential(Base::two_sum(high, low));
    return Base::scale(set(1) + e.rest, e.n);
  }
  static D erf(D x) { return Base::template erf_of<DoubleMath>(x); }
  static D erfc(D x) { return Base::template erfc_of<DoubleMath>(x); }

  static D softplus(D x) { return select(x > 0.0, x, set(0)) + log1p_sum(exp(-abs(x))); }

  // log to about 2^-66 of itself; requires a finite x > 0.
  static Pair log_pair(D x) {
    const auto part = Base::mantissa(x);
    const D f = part.m - set(1);
    const D below = part.m + set(1);
    const D below_low = part.m - (below - set(1));
    const D s = f / below;
    const D s_low = (V::fma(-s, below, f) - s * below_low) / below;
    const Pair z = Base::product({s, s_low}, {s, s_low});
    const D tail =
        z.high * Base::polynomial(z.high, 1.0 / 25, 1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17,
                                  1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5);
    const Pair third = Base::fast_two_sum(set(0x1.5555555555555p-2), tail);
    const Pair cubic = Base::product(z, {third.high, third.low + set(0x1.5555555555555p-56)});
    const Pair more = Base::product({set(2) * s, set(2) * s_low}, cubic);
    const Pair log = Base::fast_two_sum(set(2) * s, more.high);
    const Pair sum = Base::two_sum(part.k * set(Base::kLn2Short), log.high);
    const Pair rest = Base::two_product(part.k, set(Base::kLn2Rest));
    const Pair high = Base::two_sum(sum.high, rest.high);
    const D low = high.low + sum.low + (log.low + (set(2) * s_low + more.low)) +
                  V::fma(part.k, set(0x1.f97b57a079a19p-103), rest.low);
    return Base::fast_two_sum(high.high, low);
  }

  static D pow(D x, D y) {
    const D size = abs(x);
    const Pair log = log_pair(size);
    const D limited = Base::with_log_limits(size, log.high);
    const D high = y * limited;
    const D low = V::fma(y, limited, -high) + y * log.low;
    const auto near = abs(high) < 800.0;
    const Exponential e =
        Base::exponential({Base::clamp(high, -800, 800), select(near, low, set(0))});
    return Base::with_power_limits(x, y, Base::scale(set(1) + e.rest, e.n));
  }

  static constexpr double kLarge = kLargeAngle;
};

}  // namespace mtf
