// Angles: reduction to [-pi/4, pi/4] and the series there. Those of at least kLargeAngle go one by
// one through Payne and Hanek's reduction.

#pragma once

#include "runtime/vector_math/vector_math_core.h"

namespace mtf {

inline constexpr double kLargeAngle = 0x1p20;

// Of any finite |x| >= kLargeAngle.
[[nodiscard]] double sine_of_large(double x);
[[nodiscard]] double cosine_of_large(double x);
[[nodiscard]] double tangent_of_large(double x);

template <typename V>
struct Angles : Core<V> {
  using Base = Core<V>;
  using Base::set;
  using typename Base::D;
  using typename Base::Pair;
  using typename Base::U;

  // A multiple of pi/2, of which the last two bits matter, and what remains.
  struct Angle {
    Pair rest;
    U quadrant;
  };

  // Requires |x| < kLargeAngle.
  static Angle reduce(D x) {
    const auto n = Base::nearest(x * set(0x1.45f306dc9c883p-1));
    const Pair first = Base::two_product(n.value, set(0x1.921fb54442d18p+0));
    const Pair second = Base::two_product(n.value, set(0x1.1a62633145c07p-54));
    const D left = x - first.high;  // exact
    const Pair taken = Base::two_sum(first.low, second.high);
    const Pair rest = Base::two_sum(left, -taken.high);
    const D third = V::fma(n.value, set(-0x1.f1976b7ed8fbcp-110), second.low);
    return {Base::fast_two_sum(rest.high, rest.low - taken.low - third), n.bits};
  }

  static D sine_series(Pair x) {
    const D z = x.high * x.high;
    const D v = z * x.high;
    const D tail = Base::polynomial(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08,
                                    2.75573137070700676789e-06, -1.98412698298579493134e-04,
                                    8.33333333332248946124e-03);
    const D small = z * (set(0.5) * x.low - v * tail) - x.low;
    return x.high - (small + v * set(1.66666666666666324348e-01));
  }

  static D cosine_series(Pair x) {
    const D z = x.high * x.high;
    const D tail = z * Base::polynomial(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09,
                                        -2.75573143513906633035e-07, 2.48015872894767294178e-05,
                                        -1.38888888888741095749e-03, 4.16666666666666019037e-02);
    const D half = set(0.5) * z;
    const D w = set(1) - half;
    return w + (((set(1) - w) - half) + (z * tail - x.high * x.low));
  }

  static D choose(D sine, D cosine, U quadrant) {
    const D value = Base::select((quadrant & 1) != 0, cosine, sine);
    return V::number(V::bits(value) ^ ((quadrant & 2) << 62));
  }

  // sin(rest + quadrant * pi/2)
  static D sine_of(Angle angle) {
    return choose(sine_series(angle.rest), cosine_series(angle.rest), angle.quadrant);
  }

  // tan(rest + quadrant * pi/2)
  static D tangent_of(Angle angle) {
    const D sine = sine_of(angle);
    angle.quadrant = angle.quadrant + 1;
    return sine / sine_of(angle);
  }

  // The sine and cosine of the rest, to 2^-32 of themselves for floats |x| < 2^40.
  struct Circle {
    D sine;
    D cosine;
    U quadrant;
  };

  static Circle circle_short(D x) {
    const auto n = Base::nearest(x * set(0x1.45f306dc9c883p-1));
    const D first = V::fma(n.value, set(-0x1.921fb54442d18p+0), x);
    const D r = V::fma(n.value, set(-0x1.1a62633145c07p-54), first);
    const D z = r * r;
    const D sine = V::fma(
        r * z, Base::polynomial(z, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6),
        r);
    const D cosine = Base::polynomial(z, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720,
                                      1.0 / 24, -0.5, 1.0);
    return {sine, cosine, n.bits};
  }

  // sin(x + shift * pi/2)
  static D sine_short(D x, std::uint64_t shift) {
    const Circle at = circle_short(x);
    return choose(at.sine, at.cosine, at.quadrant + shift);
  }

  static D tangent_short(D x) {
    const Circle at = circle_short(x);
    const auto odd = (at.quadrant & 1) != 0;
    return Base::select(odd, -at.cosine, at.sine) / Base::select(odd, at.sine, at.cosine);
  }
};

}  // namespace mtf
