// Transforms for AVX2.

#include <immintrin.h>

#include "runtime/products/winograd/transforms_impl.h"

namespace mtf {
namespace {

struct F32x8 {
  using Reg = __m256;
  static constexpr int kLanes = 8;
  static Reg load(const float* x) { return _mm256_loadu_ps(x); }
  static Reg load(const BFloat16* x) {
    const __m256i wide =
        _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
  }
  static Reg all(float x) { return _mm256_set1_ps(x); }
  static Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
  static void store(float* x, Reg y) { _mm256_storeu_ps(x, y); }
};

}  // namespace

constinit const WinogradTransforms<float> kWinogradAvx2 = make_winograd_transforms<F32x8, float>();
constinit const WinogradTransforms<BFloat16> kWinogradAvx2Bf16 =
    make_winograd_transforms<F32x8, BFloat16>();
constinit const WinogradSumTransforms kWinogradSumsAvx2 = make_winograd_sum_transforms<F32x8>();

}  // namespace mtf
