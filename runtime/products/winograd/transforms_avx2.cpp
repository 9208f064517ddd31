// Transforms for AVX2.

#include <immintrin.h>

#include "runtime/products/winograd/transforms_impl.h"

namespace mtf {
namespace {

struct F32x8 {
  using Reg = __m256;
  static constexpr int kLanes = 8;
  static Reg load(const float* x) { return _mm256_loadu_ps(x); }
  static Reg all(float x) { return _mm256_set1_ps(x); }
  static void store(float* x, Reg y) { _mm256_storeu_ps(x, y); }
};

}  // namespace

constinit const WinogradTransforms kWinogradAvx2 = make_winograd_transforms<F32x8>();

}  // namespace mtf
