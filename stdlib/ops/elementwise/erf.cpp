// erf, the error function, and erfc, which is 1 - erf: rational functions by range (Sun's fdlibm,
// s_erf.c), in double.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

// Coefficients from the highest power down; additions and products only, so
// that every machine has the same bits.
template <typename... Rest>
double polynomial(double x, double first, Rest... rest) {
  double sum = first;
  ((sum = sum * x + rest), ...);
  return sum;
}

// To 27/32: P(x^2) / Q(x^2) of x + x P/Q.
double near_zero(double x) {
  const double z = x * x;
  const double p = polynomial(z, -2.37630166566501626084e-05, -5.77027029648944159157e-03,
                              -2.84817495755985104766e-02, -3.25042107247001499370e-01,
                              1.28379167095512558561e-01);
  const double q = polynomial(z, -3.96022827877536812320e-06, 1.32494738004321644526e-04,
                              5.08130628187576562776e-03, 6.50222499887672944485e-02,
                              3.97917223959155352819e-01, 1.0);
  return p / q;
}

// To 5/4, by the distance from 1.
double near_one(double size) {
  const double s = size - 1;
  const double p = polynomial(s, -2.16637559486879084300e-03, 3.54783043256182359371e-02,
                              -1.10894694282396677476e-01, 3.18346619901161753674e-01,
                              -3.72207876035701323847e-01, 4.14856118683748331666e-01,
                              -2.36211856075265944077e-03);
  const double q = polynomial(s, 1.19844998467991074170e-02, 1.36370839120290507362e-02,
                              1.26171219808761642112e-01, 7.18286544141962662868e-02,
                              5.40397917702171048937e-01, 1.06420880400844228286e-01, 1.0);
  return p / q;
}

constexpr double kNearOne = 8.45062911510467529297e-01;  // erf(1), but for its last digits

// Further out erf(x) = 1 - exp(-x^2 - 9/16 + R(1/x^2) / S(1/x^2)) / x: R/S to
// 1/0.35 and beyond.
double tail(double size) {
  const double s = 1 / (size * size);
  if (size < 1 / 0.35) {
    const double r = polynomial(s, -9.81432934416914548592e+00, -8.12874355063065934246e+01,
                                -1.84605092906711035994e+02, -1.62396669462573470355e+02,
                                -6.23753324503260060396e+01, -1.05586262253232909814e+01,
                                -6.93858572707181764372e-01, -9.86494403484714822705e-03);
    return r / polynomial(s, -6.04244152148580987438e-02, 6.57024977031928170135e+00,
                          1.08635005541779435134e+02, 4.29008140027567833386e+02,
                          6.45387271733267880336e+02, 4.34565877475229228821e+02,
                          1.37657754143519042600e+02, 1.96512716674392571292e+01, 1.0);
  }
  const double r = polynomial(s, -4.83519191608651397019e+02, -1.02509513161107724954e+03,
                              -6.37566443368389627722e+02, -1.60636384855821916062e+02,
                              -1.77579549177547519889e+01, -7.99283237680523006574e-01,
                              -9.86494292470009928597e-03);
  return r / polynomial(s, -2.24409524465858183362e+01, 4.74528541206955367215e+02,
                        2.55305040643316442583e+03, 3.19985821950859553908e+03,
                        1.53672958608443695994e+03, 3.25792512996573918826e+02,
                        3.03380607434824582924e+01, 1.0);
}

// The exponent's large part is exact, for `top` has few digits; exponentials
// multiply.
struct Exponents {
  std::array<double, kPiece> large;
  std::array<double, kPiece> small;
};

void set_exponents(double x, double last, std::size_t i, Exponents& exponents) {
  const double size = std::clamp(std::abs(x), 1.25, last);
  const double top = std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) & 0xffffffff00000000);
  exponents.large[i] = -top * top - 0.5625;
  exponents.small[i] = (top - size) * (top + size) + tail(size);
}

// Where the values are 1 and 0 for good.
constexpr double kLastErf = 6;
constexpr double kLastErfc = 28;

double erf_of(double x, double exponential) {
  const double size = std::abs(x);
  if (!(size >= 0.84375)) {  // NaN as well
    return x + x * near_zero(x);
  }
  const double value =
      size < 1.25 ? kNearOne + near_one(size) : 1 - exponential / std::min(size, kLastErf);
  return std::copysign(value, x);
}

double erfc_of(double x, double exponential) {
  const double size = std::abs(x);
  if (!(size >= 0.84375)) {
    const double more = x * near_zero(x);
    return x < 0.25 ? 1 - (x + more) : 0.5 - (x - 0.5 + more);
  }
  if (size < 1.25) {
    const double rest = near_one(size);
    return x > 0 ? 1 - kNearOne - rest : 1 + (kNearOne + rest);
  }
  const double tail_of = exponential / std::min(size, kLastErfc);
  return x > 0 ? tail_of : 2 - tail_of;
}

template <double (*kOf)(double, double), typename T>
void erf_piece(const T* x, std::size_t n, double last, Isa isa, T* y) {
  Exponents exponents;
  for (std::size_t i = 0; i < n; ++i) {
    set_exponents(static_cast<double>(x[i]), last, i, exponents);
  }
  for (auto* exponent : {&exponents.large, &exponents.small}) {
    const std::span<double> part(exponent->data(), n);
    vector_math(MathFn::kExp, part, isa, part);
  }
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = static_cast<T>(kOf(static_cast<double>(x[i]), exponents.large[i] * exponents.small[i]));
  }
}

template <double (*kOf)(double, double)>
void erf_tile(const TileCall& call, std::span<const void* const> in, void* out, std::size_t n) {
  constexpr double kLast = kOf == erf_of ? kLastErf : kLastErfc;
  with_float(call.dtype, [&](auto type) {
    using T = decltype(type);
    for (std::size_t begin = 0; begin < n; begin += kPiece) {
      erf_piece<kOf>(static_cast<const T*>(in[0]) + begin, std::min(kPiece, n - begin), kLast,
                     call.isa, static_cast<T*>(out) + begin);
    }
  });
}

// The slope of erf is 2 / sqrt(pi) exp(-x^2).
void bell_grad(GradBuilder& b, double sign) {
  const ValueId bell = b.emit("exp", {b.emit("neg", {b.emit("square", {b.operand(0)})})});
  const ValueId slope = b.emit("mul", {bell, b.scalar(sign * 2 * std::numbers::inv_sqrtpi)});
  b.add_to(0, b.emit("mul", {b.upstream(), slope}));
}

void erf_grad(GradBuilder& b) {
  bell_grad(b, 1);
}

void erfc_grad(GradBuilder& b) {
  bell_grad(b, -1);
}

double erf_host(std::span<const double> x) {
  return std::erf(x[0]);
}

double erfc_host(std::span<const double> x) {
  return std::erfc(x[0]);
}

}  // namespace

const OpDef kErf{.name = "erf",
                 .summary = "the error function of each element",
                 .family = "element-wise functions",
                 .params = one_operand(),
                 .shape_rule = kSameDims,
                 .example = R"(dim io = 3
let y = erf(const([io], [-1, 0, 0.5]))
assert all(abs(y - const([io], [-0.84270079, 0, 0.52049988])) < 0.000001)
)",
                 .type = float_elements,
                 .space = kept_space,
                 .grad = erf_grad,
                 .flops = one_flop_each,
                 .tile = erf_tile<erf_of>,
                 .host = erf_host};

const OpDef kErfc{.name = "erfc",
                  .summary = "1 - erf(x), exact far to the right",
                  .family = "element-wise functions",
                  .params = one_operand(),
                  .shape_rule = kSameDims,
                  .example = R"(dim io = 3
let y = erfc(const([io], [-1, 0.5, 4]))
assert all(abs(y / const([io], [1.84270079, 0.47950012, 1.54172579e-8]) - 1) < 0.000001)
)",
                  .type = float_elements,
                  .space = kept_space,
                  .grad = erfc_grad,
                  .flops = one_flop_each,
                  .tile = erf_tile<erfc_of>,
                  .host = erfc_host};

}  // namespace mtf::ops
