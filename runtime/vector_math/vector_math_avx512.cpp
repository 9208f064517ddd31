// Vector math on 8 doubles at a time.

#include <immintrin.h>

#include "runtime/vector_math/vector_math_loops.h"

namespace mtf {
namespace {

// The unmasked intrinsics start from an undefined register, of which g++ 12 warns.
constexpr __mmask8 kAll = 0xff;

struct F64x8 {
  using Double = __m512d;
  using Bits = std::uint64_t __attribute__((vector_size(64)));
  static constexpr std::size_t kLanes = 8;

  static Double set(double x) { return _mm512_set1_pd(x); }
  static Bits bits(Double x) { return reinterpret_cast<Bits>(x); }
  static Double number(Bits x) { return reinterpret_cast<Double>(x); }
  template <typename Mask>
  static Double select(Mask mask, Double yes, Double no) {
    return mask ? yes : no;
  }
  static Double fma(Double x, Double y, Double z) { return _mm512_fmadd_pd(x, y, z); }
  static Double floor(Double x) {
    return _mm512_maskz_roundscale_pd(kAll, x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  }
  static Double sqrt(Double x) { return _mm512_maskz_sqrt_pd(kAll, x); }
  static Double load(const double* x) { return _mm512_loadu_pd(x); }
  static void store(double* x, Double y) { _mm512_storeu_pd(x, y); }

  struct OfFloats {
    static constexpr std::size_t kLanes = 8;
    static Double load(const float* x) { return _mm512_maskz_cvtps_pd(kAll, _mm256_loadu_ps(x)); }
    static void store(float* x, Double y) { _mm256_storeu_ps(x, _mm512_maskz_cvtpd_ps(kAll, y)); }
  };
};

}  // namespace

constinit const AllVectorMath kVectorMathAvx512 = make_all_vector_math<F64x8>();

}  // namespace mtf
