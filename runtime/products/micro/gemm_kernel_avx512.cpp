// Micro-kernels for AVX-512: tiles of 12x32 floats and 12x16 doubles in 24 of the 32 registers.

#include <immintrin.h>

#include "runtime/products/micro/gemm_kernel_impl.h"

namespace mtf {
namespace {

// A register cleared by itself, which takes no unit that multiplies. The compiler would clear one
// and copy it to the others, and of many copies of one register most do take such a unit.
template <typename Reg>
Reg clear() {
  Reg zero;
  asm volatile("vpxord %x0, %x0, %x0" : "=v"(zero));
  return zero;
}

struct F32x16 {
  using Value = float;
  using Reg = __m512;
  static constexpr int kLanes = 16;
  static constexpr int kTogether = 1;
  static constexpr int kStored = sizeof(Value);
  static constexpr bool kFlushes = false;
  static Reg zero() { return clear<Reg>(); }
  static Reg load(const float* x) { return _mm512_loadu_ps(x); }
  static Reg broadcast(const float* x) { return _mm512_set1_ps(*x); }
  static Reg add(Reg x, Reg y) { return _mm512_add_ps(x, y); }
  static Reg fma(Reg x, Reg y, Reg z) { return _mm512_fmadd_ps(x, y, z); }
  static void store(float* x, Reg y) { _mm512_storeu_ps(x, y); }
  static void store_halves(float* x, Reg y) {
    _mm256_storeu_ps(x, _mm512_castps512_ps256(y));
    _mm256_storeu_ps(x + kLanes / 2, _mm512_extractf32x8_ps(y, 1));
  }
};

struct F64x8 {
  using Value = double;
  using Reg = __m512d;
  static constexpr int kLanes = 8;
  static constexpr int kTogether = 1;
  static constexpr int kStored = sizeof(Value);
  static constexpr bool kFlushes = false;
  static Reg zero() { return clear<Reg>(); }
  static Reg load(const double* x) { return _mm512_loadu_pd(x); }
  static Reg broadcast(const double* x) { return _mm512_set1_pd(*x); }
  static Reg add(Reg x, Reg y) { return _mm512_add_pd(x, y); }
  static Reg fma(Reg x, Reg y, Reg z) { return _mm512_fmadd_pd(x, y, z); }
  static void store(double* x, Reg y) { _mm512_storeu_pd(x, y); }
  static void store_halves(double* x, Reg y) {
    _mm256_storeu_pd(x, _mm512_castpd512_pd256(y));
    _mm256_storeu_pd(x + kLanes / 2, _mm512_extractf64x4_pd(y, 1));
  }
};

// Of bf16 widened.
struct Flushed : F32x16 {
  static constexpr int kStored = 2;  // bytes of an index before it was widened
  static constexpr bool kFlushes = true;
  static void hold(Reg& x) { asm volatile("" : "+v"(x)); }
};

}  // namespace

constinit const GemmKernel<float> kGemmAvx512F32 = make_gemm_kernel<F32x16, 12>();
constinit const GemmKernel<float> kGemmAvx512Bf16 = make_gemm_kernel<Flushed, 12>();
constinit const GemmKernel<double> kGemmAvx512F64 = make_gemm_kernel<F64x8, 12>();

}  // namespace mtf
