// The error function and 1 - it, of doubles: rational functions by range (Sun's fdlibm, s_erf.c),
// with selections for its branches. Floats go through them too.

#pragma once

#include "runtime/vector_math/vector_math_arc.h"

namespace mtf {

// `Math`, below, has exp_of(high, low) = exp(high + low).
template <typename V>
struct Bells : Arcs<V> {
  using Base = Arcs<V>;
  using Base::abs;
  using Base::copy_sign;
  using Base::polynomial;
  using Base::select;
  using Base::set;
  using typename Base::D;

  static constexpr double kNear = 0.84375;
  static constexpr double kNearOne = 8.45062911510467529297e-01;  // erf(1), but for its last digits
  // Where the values are 1 and 0 for good.
  static constexpr double kLastErf = 6;
  static constexpr double kLastErfc = 28;

  // To kNear: erf(x) - x.
  static D beyond_line(D x) {
    const D z = x * x;
    const D p = polynomial(z, -2.37630166566501626084e-05, -5.77027029648944159157e-03,
                           -2.84817495755985104766e-02, -3.25042107247001499370e-01,
                           1.28379167095512558561e-01);
    const D q = polynomial(z, -3.96022827877536812320e-06, 1.32494738004321644526e-04,
                           5.08130628187576562776e-03, 6.50222499887672944485e-02,
                           3.97917223959155352819e-01, 1.0);
    return x * (p / q);
  }

  // To 5/4: erf(size) - kNearOne, by the distance from 1.
  static D beyond_one(D size) {
    const D s = size - set(1);
    const D p = polynomial(s, -2.16637559486879084300e-03, 3.54783043256182359371e-02,
                           -1.10894694282396677476e-01, 3.18346619901161753674e-01,
                           -3.72207876035701323847e-01, 4.14856118683748331666e-01,
                           -2.36211856075265944077e-03);
    const D q = polynomial(s, 1.19844998467991074170e-02, 1.36370839120290507362e-02,
                           1.26171219808761642112e-01, 7.18286544141962662868e-02,
                           5.40397917702171048937e-01, 1.06420880400844228286e-01, 1.0);
    return p / q;
  }

  // Further out 1 - erf(size) = exp(-size^2 - 9/16 + R(1/size^2) / S(1/size^2)) / size: R/S to
  // 1/0.35 and beyond.
  static D tail(D size) {
    const D s = set(1) / (size * size);
    const auto close = size < 1 / 0.35;
    const D r = select(close,
                       polynomial(s, -9.81432934416914548592e+00, -8.12874355063065934246e+01,
                                  -1.84605092906711035994e+02, -1.62396669462573470355e+02,
                                  -6.23753324503260060396e+01, -1.05586262253232909814e+01,
                                  -6.93858572707181764372e-01, -9.86494403484714822705e-03),
                       polynomial(s, -4.83519191608651397019e+02, -1.02509513161107724954e+03,
                                  -6.37566443368389627722e+02, -1.60636384855821916062e+02,
                                  -1.77579549177547519889e+01, -7.99283237680523006574e-01,
                                  -9.86494292470009928597e-03));
    const D q = select(close,
                       polynomial(s, -6.04244152148580987438e-02, 6.57024977031928170135e+00,
                                  1.08635005541779435134e+02, 4.29008140027567833386e+02,
                                  6.45387271733267880336e+02, 4.34565877475229228821e+02,
                                  1.37657754143519042600e+02, 1.96512716674392571292e+01, 1.0),
                       polynomial(s, -2.24409524465858183362e+01, 4.74528541206955367215e+02,
                                  2.55305040643316442583e+03, 3.19985821950859553908e+03,
                                  1.53672958608443695994e+03, 3.25792512996573918826e+02,
                                  3.03380607434824582924e+01, 1.0));
    return r / q;
  }

  // 1 - erf(size) from 5/4 on; the large part of the exponent is exact, for `top` has few digits.
  template <typename Math>
  static D rest_of_one(D size) {
    const D top = V::number(V::bits(size) & 0xffffffff00000000);
    const D high = -(top * top) - set(0.5625);
    const D low = V::fma(top - size, top + size, tail(size));
    return Math::exp_of(high, low) / size;
  }

  template <typename Math>
  static D erf_of(D x) {
    const D size = abs(x);
    const D far = set(1) - rest_of_one<Math>(Base::clamp(size, 1.25, kLastErf));
    const D value = select(size < 1.25, set(kNearOne) + beyond_one(size), far);
    return select(size >= kNear, copy_sign(value, x), x + beyond_line(x));
  }

  template <typename Math>
  static D erfc_of(D x) {
    const D size = abs(x);
    const D rest = rest_of_one<Math>(Base::clamp(size, 1.25, kLastErfc));
    const D far = select(x > 0.0, rest, set(2) - rest);
    const D more = beyond_one(size);
    const D middle = select(x > 0.0, set(1 - kNearOne) - more, set(1) + (set(kNearOne) + more));
    const D line = beyond_line(x);
    const D near = select(x < 0.25, set(1) - (x + line), set(0.5) - ((x - set(0.5)) + line));
    return select(size >= kNear, select(size < 1.25, middle, far), near);
  }
};

}  // namespace mtf
