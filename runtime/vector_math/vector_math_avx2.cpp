// Vector math on 4 doubles at a time.

#include <immintrin.h>

#include "runtime/vector_math/vector_math_loops.h"

namespace mtf {
namespace {

struct F64x4 {
  using Double = __m256d;
  using Bits = std::uint64_t __attribute__((vector_size(32)));
  static constexpr std::size_t kLanes = 4;

  static Double set(double x) { return _mm256_set1_pd(x); }
  static Bits bits(Double x) { return reinterpret_cast<Bits>(x); }
  static Double number(Bits x) { return reinterpret_cast<Double>(x); }
  template <typename Mask>
  static Double select(Mask mask, Double yes, Double no) {
    return mask ? yes : no;
  }
  static Double fma(Double x, Double y, Double z) { return _mm256_fmadd_pd(x, y, z); }
  static Double floor(Double x) { return _mm256_floor_pd(x); }
  static Double sqrt(Double x) { return _mm256_sqrt_pd(x); }
  static Double load(const double* x) { return _mm256_loadu_pd(x); }
  static void store(double* x, Double y) { _mm256_storeu_pd(x, y); }

  struct OfFloats {
    static constexpr std::size_t kLanes = 4;
    static Double load(const float* x) { return _mm256_cvtps_pd(_mm_loadu_ps(x)); }
    static void store(float* x, Double y) { _mm_storeu_ps(x, _mm256_cvtpd_ps(y)); }
  };
};

}  // namespace

constinit const AllVectorMath kVectorMathAvx2 = make_all_vector_math<F64x4>();

}  // namespace mtf
