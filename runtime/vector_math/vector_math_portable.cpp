// Vector math on one double at a time, and what is done for one element alone.

#include <bit>
#include <cmath>

#include "runtime/vector_math/vector_math_loops.h"

namespace mtf {
namespace {

struct Scalar {
  using Double = double;
  using Bits = std::uint64_t;
  static constexpr std::size_t kLanes = 1;

  static Double set(double x) { return x; }
  static Bits bits(Double x) { return std::bit_cast<Bits>(x); }
  static Double number(Bits x) { return std::bit_cast<Double>(x); }
  template <typename Mask>
  static Double select(Mask mask, Double yes, Double no) {
    return mask ? yes : no;
  }
  static Double fma(Double x, Double y, Double z) { return std::fma(x, y, z); }
  static Double floor(Double x) { return std::floor(x); }
  static Double sqrt(Double x) { return std::sqrt(x); }
  static Double load(const double* x) { return *x; }
  static void store(double* x, Double y) { *x = y; }

  struct OfFloats {
    static constexpr std::size_t kLanes = 1;
    static Double load(const float* x) { return static_cast<double>(*x); }
    static void store(float* x, Double y) { *x = static_cast<float>(y); }
  };
};

__extension__ using Wide = unsigned __int128;

// 2/pi in pieces of 64 bits, after one piece of zeros before its point.
constexpr std::array<std::uint64_t, 22> kTwoPerPi = {0,
                                                     0xa2f9836e4e441529,
                                                     0xfc2757d1f534ddc0,
                                                     0xdb6295993c439041,
                                                     0xfe5163abdebbc561,
                                                     0xb7246e3a424dd2e0,
                                                     0x06492eea09d1921c,
                                                     0xfe1deb1cb129a73e,
                                                     0xe88235f52ebb4484,
                                                     0xe99c7026b45f7e41,
                                                     0x3991d639835339f4,
                                                     0x9c845f8bbdf9283b,
                                                     0x1ff897ffde05980f,
                                                     0xef2f118b5a0a6d1f,
                                                     0x6d367ecf27cb09b7,
                                                     0x4f463f669e5fea2d,
                                                     0x7527bac7ebe5f17b,
                                                     0x3d0739f78a5292ea,
                                                     0x6bfb5fb11f8d5d08,
                                                     0x56033046fc7b6bab,
                                                     0xf0cfbc209af4361d,
                                                     0xa9e391615ee61b08};

// 64 bits of 2/pi from bit `first` of the table on.
std::uint64_t bits_from(std::uint64_t first) {
  const std::size_t piece = first / 64;
  const Wide two = (Wide{kTwoPerPi[piece]} << 64) | kTwoPerPi[piece + 1];
  return static_cast<std::uint64_t>(two >> (64 - first % 64));
}

using Math = Angles<Scalar>;

// fraction * 2^-128 as a sum of two doubles.
Math::Pair to_pair(Wide fraction) {
  if (fraction == 0) {
    return {0, 0};
  }
  const auto top = static_cast<std::uint64_t>(fraction >> 64);
  const int zeros = top != 0 ? std::countl_zero(top)
                             : 64 + std::countl_zero(static_cast<std::uint64_t>(fraction));
  const auto digits = static_cast<std::uint64_t>((fraction << zeros) >> 64);
  const double unit = std::ldexp(1.0, -64 - zeros);
  return {static_cast<double>(digits & ~std::uint64_t{0x7ff}) * unit,
          static_cast<double>(digits & 0x7ff) * unit};
}

// Payne and Hanek: the product of x and just those bits of 2/pi that do not make whole turns.
// Requires a finite x >= kLargeAngle.
Math::Angle reduce_large(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t digits = (bits & 0x000fffffffffffff) | 0x0010000000000000;
  // x = digits * 2^e; of 2/pi, the bits worth 2^(2-e) and more make whole turns. The table's bit 64
  // is worth 1/2, so 192 bits are taken from bit 62 + e = exponent - 1013 on.
  const std::uint64_t first = (bits >> 52) - 1013;
  const Wide low = Wide{digits} * bits_from(first + 128);
  const Wide middle = Wide{digits} * bits_from(first + 64) + static_cast<std::uint64_t>(low >> 64);
  const std::uint64_t high = digits * bits_from(first) + static_cast<std::uint64_t>(middle >> 64);
  const Wide turns = (Wide{high} << 64) | static_cast<std::uint64_t>(middle);
  const Wide fraction = (turns << 2) | (static_cast<std::uint64_t>(low) >> 62);
  const std::uint64_t quadrant = high >> 62;
  const bool past_half = (fraction >> 127) != 0;
  const Math::Pair part = to_pair(past_half ? -fraction : fraction);
  const Math::Pair rest = Math::product(part, {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54});
  if (past_half) {
    return {{-rest.high, -rest.low}, quadrant + 1};
  }
  return {rest, quadrant};
}

}  // namespace

constinit const AllVectorMath kVectorMathPortable = make_all_vector_math<Scalar>();

double sine_of_large(double x) {
  const double sine = Math::sine_of(reduce_large(std::fabs(x)));
  return x < 0 ? -sine : sine;
}

double cosine_of_large(double x) {
  Math::Angle angle = reduce_large(std::fabs(x));
  angle.quadrant += 1;
  return Math::sine_of(angle);
}

double tangent_of_large(double x) {
  const double tangent = Math::tangent_of(reduce_large(std::fabs(x)));
  return x < 0 ? -tangent : tangent;
}

}  // namespace mtf
