// Functions of floats, computed in double: then every result is the true value rounded once, but
// for a few parts in 2^32, and nothing on the way overflows.

#pragma once

#include "runtime/vector_math/vector_math_bell.h"

namespace mtf {

template <typename V>
struct FloatMath : Bells<V> {
  using Base = Bells<V>;
  using Base::abs;
  using Base::exp_short;
  using Base::select;
  using Base::set;
  using typename Base::D;

  static D exp(D x) { return exp_short(x); }

  static D expm1(D x) { return select(x == 0.0, x, Base::expm1_short(x)); }

  static D log(D x) {  // a float is never subnormal here
    const auto part = Base::normal_mantissa(x);
    return Base::with_log_limits(x, Base::log_sum_short(part.m - set(1), part.k));
  }

  static D log1p_sum(D x) {
    const D u = x + set(1);
    const auto part = Base::normal_mantissa(u);
    const D f = select(part.k == 0.0, x, part.m - set(1));
    return Base::with_log_limits(u, Base::log_sum_short(f, part.k));
  }

  static D log1p(D x) { return select(x == 0.0, x, log1p_sum(x)); }
  static D sqrt(D x) { return V::sqrt(x); }
  static D rsqrt(D x) { return set(1) / V::sqrt(x); }
  static D reciprocal(D x) { return set(1) / x; }
  static D sin(D x) { return select(x == 0.0, x, Base::sine_short(x, 0)); }
  static D cos(D x) { return Base::sine_short(x, 1); }
  static D tan(D x) { return select(x == 0.0, x, Base::tangent_short(x)); }

  static D sinh(D x) {
    const D e = Base::expm1_short(abs(x));
    return Base::copy_sign(set(0.5) * (e + e / (e + set(1))), x);
  }

  static D cosh(D x) {
    const D e = exp_short(abs(x));
    return set(0.5) * (e + set(1) / e);
  }

  static D tanh(D x) {
    const D t = Base::expm1_short(set(2) * Base::at_most(abs(x), 20));
    return Base::copy_sign(t / (t + set(2)), x);
  }

  // 1 / (1 + exp(-x)), small on the left to the last bit.
  static D sigmoid(D x) {
    const D z = exp_short(-abs(x));
    return select(x < 0.0, z, set(1)) / (z + set(1));
  }

  // Left of the bounds the results are -0; they keep -Inf * 0 away.
  static D silu(D x) {
    const D bounded = Base::at_least(x, -200);
    return bounded * sigmoid(bounded);
  }

  static D gelu(D x) {
    const D bounded = Base::at_least(x, -40);
    const D inner = set(0x1.9884533d43651p+0) * bounded *  // 2 sqrt(2 / pi)
                    V::fma(set(0.044715) * bounded, bounded, set(1));
    return bounded * sigmoid(inner);
  }

  static D exp_of(D high, D low) { return exp_short(high + low); }
  static D erf(D x) { return Base::template erf_of<FloatMath>(x); }
  static D erfc(D x) { return Base::template erfc_of<FloatMath>(x); }

  static D softplus(D x) { return select(x > 0.0, x, set(0)) + log1p_sum(exp_short(-abs(x))); }

  static D pow(D x, D y) {
    const D exponent = Base::clamp(y * log(abs(x)), -200, 200);
    return Base::with_power_limits(x, y, exp_short(exponent));
  }

  // What sin, cos and tan do not cover.
  static constexpr double kLarge = 0x1p40;
};

}  // namespace mtf
