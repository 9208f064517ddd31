// The micro-kernel for AVX512_BF16, whose instruction does two indices of a chain: first the upper
// halves of its words, then the lower ones, each as a multiply-add that rounds once, takes
// subnormals for 0 and gives none. So a word holds index k above and k + 1 below.

#include <immintrin.h>

#include "runtime/products/micro/gemm_kernel_impl.h"

namespace mtf {
namespace {

template <typename Reg>
Reg cleared() {  // as in gemm_kernel_avx512.cpp
  Reg zero;
  asm volatile("vpxord %x0, %x0, %x0" : "=v"(zero));
  return zero;
}

// Words of two bf16 in registers of floats, which are moved and never computed with as such.
struct Pairs {
  using Value = float;
  using Reg = __m512;
  static constexpr int kLanes = 16;
  static constexpr int kTogether = 2;
  static constexpr int kStored = 2;        // bytes of an index
  static constexpr bool kFlushes = false;  // the instruction does, whatever the mode is
  static Reg zero() { return cleared<Reg>(); }
  static Reg load(const float* x) { return _mm512_loadu_ps(x); }
  static Reg broadcast(const float* x) { return _mm512_set1_ps(*x); }
  static Reg add(Reg x, Reg y) { return _mm512_add_ps(x, y); }
  static Reg fma(Reg x, Reg y, Reg z) {
    return _mm512_dpbf16_ps(z, reinterpret_cast<__m512bh>(x), reinterpret_cast<__m512bh>(y));
  }
  static void store(float* x, Reg y) { _mm512_storeu_ps(x, y); }
  static void store_halves(float* x, Reg y) {
    _mm256_storeu_ps(x, _mm512_castps512_ps256(y));
    _mm256_storeu_ps(x + kLanes / 2, _mm512_extractf32x8_ps(y, 1));
  }
};

}  // namespace

constinit const GemmKernel<float> kGemmPairsBf16 = make_gemm_kernel<Pairs, 12>();

}  // namespace mtf
