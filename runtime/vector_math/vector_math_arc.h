// Arc functions of doubles: Sun's fdlibm (s_atan.c, e_asin.c, e_acos.c, e_atan2.c), with selections
// for its branches. Floats go through them too.

#pragma once

#include "runtime/vector_math/vector_math_angle.h"

namespace mtf {

template <typename V>
struct Arcs : Angles<V> {
  using Base = Angles<V>;
  using Base::abs;
  using Base::select;
  using Base::set;
  using typename Base::D;

  static constexpr double kHalfPi = 0x1.921fb54442d18p+0;
  static constexpr double kHalfPiRest = 0x1.1a62633145c07p-54;
  static constexpr double kQuarterPi = 0x1.921fb54442d18p-1;

  // Of x >= 0: around 0, 1/2, 1, 3/2 or infinity, whose arcs are known.
  static D atan_of_size(D x) {
    const auto in0 = x < 0.4375;
    const auto in1 = x < 0.6875;
    const auto in2 = x < 1.1875;
    const auto in3 = x < 2.4375;
    const auto pick = [&](D zero, D half, D one, D more, D far) {
      return select(in0, zero, select(in1, half, select(in2, one, select(in3, more, far))));
    };
    const D above = pick(x, x + x - set(1), x - set(1), x - set(1.5), set(-1));
    const D below = pick(set(1), x + set(2), x + set(1), V::fma(x, set(1.5), set(1)), x);
    const D high = pick(set(0), set(4.63647609000806093515e-01), set(kQuarterPi),
                        set(9.82793723247329054082e-01), set(kHalfPi));
    const D low = pick(set(0), set(2.26987774529616870924e-17), set(3.06161699786838301793e-17),
                       set(1.39033110312309984516e-17), set(kHalfPiRest));
    const D t = above / below;
    const D z = t * t;
    const D series = z * Base::polynomial(z, 1.62858201153657823623e-02,
                                          -3.65315727442169155270e-02, 4.97687799461593236017e-02,
                                          -5.83357013379057348645e-02, 6.66107313738753120669e-02,
                                          -7.69187620504482999495e-02, 9.09088713343650656196e-02,
                                          -1.11111104054623557880e-01, 1.42857142725034663711e-01,
                                          -1.99999999998764832476e-01, 3.33333333333329318027e-01);
    return high - (V::fma(t, series, -low) - t);
  }

  static D atan(D x) { return Base::copy_sign(atan_of_size(abs(x)), x); }

  // (arcsin(sqrt(z)) / sqrt(z) - 1) for z to 1/4.
  static D arc_series(D z) {
    const D p = z * Base::polynomial(z, 3.47933107596021167570e-05, 7.91534994289814532176e-04,
                                     -4.00555345006794114027e-02, 2.01212532134862925881e-01,
                                     -3.25565818622400915405e-01, 1.66666666666666657415e-01);
    const D q = Base::polynomial(z, 7.70381505559019352791e-02, -6.88283971605453293030e-01,
                                 2.02094576023350569471e+00, -2.40339491173441421878e+00, 1.0);
    return p / q;
  }

  // Beyond 1/2 by the square root of (1 - |x|) / 2, and what its rounding took.
  struct Far {
    D z;
    D root;
    D lost;
  };

  static Far far_of(D size) {
    const D z = set(0.5) * (set(1) - size);
    const D root = V::sqrt(z);
    const D lost = V::fma(-root, root, z) / (root + root);
    return {z, root, select(root == 0.0, set(0), lost)};
  }

  static D asin(D x) {
    const D size = abs(x);
    const auto near = size < 0.5;
    const Far far = far_of(size);
    const D series = arc_series(select(near, x * x, far.z));
    const D rest = set(2) * far.root * series - (set(kHalfPiRest) - set(2) * far.lost);
    const D beyond = set(kQuarterPi) - (rest - (set(kQuarterPi) - set(2) * far.root));
    return Base::copy_sign(select(near, V::fma(size, series, size), beyond), x);
  }

  static D acos(D x) {
    const D size = abs(x);
    const auto near = size < 0.5;
    const Far far = far_of(size);
    const D series = arc_series(select(near, x * x, far.z));
    const D middle = set(kHalfPi) - (x - (set(kHalfPiRest) - x * series));
    const D right = set(2) * (far.root + V::fma(series, far.root, far.lost));
    const D turned = V::fma(series, far.root, far.lost) - set(kHalfPiRest);
    const D left = set(2) * (set(kHalfPi) - (far.root + turned));
    return select(near, middle, select(x < 0.0, left, right));
  }

  static D atan2(D y, D x) {
    const D rise = abs(y);
    const D run = abs(x);
    const auto diagonal = (rise == Base::kInfinity) & (run == Base::kInfinity);
    const auto nowhere = (rise == 0.0) & (run == 0.0);
    const D ratio = select(diagonal, set(1), select(nowhere, set(0), rise / run));
    const D arc = atan_of_size(ratio);
    const auto left = (V::bits(x) >> 63) != 0;
    const D turned = set(2 * kHalfPi) - (arc - set(2 * kHalfPiRest));
    return Base::copy_sign(select(left, turned, arc), y);
  }
};

}  // namespace mtf
