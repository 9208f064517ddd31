// Transforms for AVX-512.

#include <immintrin.h>

#include "runtime/products/winograd/transforms_impl.h"

namespace mtf {
namespace {

// The unmasked intrinsics start from an undefined register, of which g++ 12 warns.
constexpr __mmask16 kAll = 0xFFFF;

struct F32x16 {
  using Reg = __m512;
  static constexpr int kLanes = 16;
  static Reg load(const float* x) { return _mm512_loadu_ps(x); }
  static Reg load(const BFloat16* x) {
    const __m256i narrow = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
    return _mm512_castsi512_ps(
        _mm512_maskz_slli_epi32(kAll, _mm512_maskz_cvtepu16_epi32(kAll, narrow), 16));
  }
  static Reg all(float x) { return _mm512_set1_ps(x); }
  static Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_ps(a, b, c); }
  static void store(float* x, Reg y) { _mm512_storeu_ps(x, y); }
};

}  // namespace

constinit const WinogradTransforms<float> kWinogradAvx512 =
    make_winograd_transforms<F32x16, float>();
constinit const WinogradTransforms<BFloat16> kWinogradAvx512Bf16 =
    make_winograd_transforms<F32x16, BFloat16>();
constinit const WinogradSumTransforms kWinogradSumsAvx512 = make_winograd_sum_transforms<F32x16>();

}  // namespace mtf
