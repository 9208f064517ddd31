// Micro-kernels for AVX2: tiles of 6x16 floats and 6x8 doubles in 12 of the 16 registers.

#include <immintrin.h>

#include "runtime/products/micro/gemm_kernel_impl.h"

namespace mtf {
namespace {

struct F32x8 {
  using Value = float;
  using Reg = __m256;
  static constexpr int kLanes = 8;
  static constexpr int kTogether = 1;
  static constexpr int kStored = sizeof(Value);
  static constexpr bool kFlushes = false;
  static Reg zero() { return _mm256_setzero_ps(); }
  static Reg load(const float* x) { return _mm256_loadu_ps(x); }
  static Reg broadcast(const float* x) { return _mm256_broadcast_ss(x); }
  static Reg add(Reg x, Reg y) { return _mm256_add_ps(x, y); }
  static Reg fma(Reg x, Reg y, Reg z) { return _mm256_fmadd_ps(x, y, z); }
  static void store(float* x, Reg y) { _mm256_storeu_ps(x, y); }
};

struct F64x4 {
  using Value = double;
  using Reg = __m256d;
  static constexpr int kLanes = 4;
  static constexpr int kTogether = 1;
  static constexpr int kStored = sizeof(Value);
  static constexpr bool kFlushes = false;
  static Reg zero() { return _mm256_setzero_pd(); }
  static Reg load(const double* x) { return _mm256_loadu_pd(x); }
  static Reg broadcast(const double* x) { return _mm256_broadcast_sd(x); }
  static Reg add(Reg x, Reg y) { return _mm256_add_pd(x, y); }
  static Reg fma(Reg x, Reg y, Reg z) { return _mm256_fmadd_pd(x, y, z); }
  static void store(double* x, Reg y) { _mm256_storeu_pd(x, y); }
};

// Of bf16 widened.
struct Flushed : F32x8 {
  static constexpr int kStored = 2;  // bytes of an index before it was widened
  static constexpr bool kFlushes = true;
  static void hold(Reg& x) { asm volatile("" : "+x"(x)); }
};

}  // namespace

constinit const GemmKernel<float> kGemmAvx2F32 = make_gemm_kernel<F32x8, 6>();
constinit const GemmKernel<float> kGemmAvx2Bf16 = make_gemm_kernel<Flushed, 6>();
constinit const GemmKernel<double> kGemmAvx2F64 = make_gemm_kernel<F64x4, 6>();

}  // namespace mtf
