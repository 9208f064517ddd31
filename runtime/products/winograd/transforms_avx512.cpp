// Transforms for AVX-512.

#include <immintrin.h>

#include "runtime/products/winograd/transforms_impl.h"

namespace mtf {
namespace {

struct F32x16 {
  using Reg = __m512;
  static constexpr int kLanes = 16;
  static Reg load(const float* x) { return _mm512_loadu_ps(x); }
  static Reg all(float x) { return _mm512_set1_ps(x); }
  static void store(float* x, Reg y) { _mm512_storeu_ps(x, y); }
};

}  // namespace

constinit const WinogradTransforms kWinogradAvx512 = make_winograd_transforms<F32x16>();

}  // namespace mtf
