// Micro-kernels in plain C++, which also say what the others have to compute; and the choice.

#include <cmath>

#include "runtime/products/micro/gemm_kernel_impl.h"

namespace mtf {
namespace {

template <typename T>
struct Scalar {
  using Value = T;
  using Reg = T;
  static constexpr int kLanes = 1;
  static constexpr int kTogether = 1;
  static constexpr int kStored = sizeof(Value);
  static constexpr bool kFlushes = false;
  static Reg zero() { return T(0); }
  static Reg load(const T* x) { return *x; }
  static Reg broadcast(const T* x) { return *x; }
  static Reg add(Reg x, Reg y) { return x + y; }
  static Reg fma(Reg x, Reg y, Reg z) { return std::fma(x, y, z); }
  static void store(T* x, Reg y) { *x = y; }
};

// The chain of bf16 widened, as the others have it.
struct Flushed : Scalar<float> {
  static constexpr int kStored = 2;  // bytes of an index before it was widened
  static constexpr bool kFlushes = true;
  static void hold(Reg& x) { asm volatile("" : "+x"(x)); }
};

}  // namespace

constinit const GemmKernel<float> kGemmPortableBf16 = make_gemm_kernel<Flushed, 4>();
constinit const GemmKernel<float> kGemmPortableF32 = make_gemm_kernel<Scalar<float>, 4>();
constinit const GemmKernel<double> kGemmPortableF64 = make_gemm_kernel<Scalar<double>, 4>();

const GemmKernel<float>& gemm_kernel(Isa isa, float) {
  switch (isa) {
    case Isa::kPortable:
      return kGemmPortableF32;
    case Isa::kAvx2:
      return kGemmAvx2F32;
    case Isa::kAvx512:
    case Isa::kAvx512Bf16:
      return kGemmAvx512F32;
  }
  return kGemmPortableF32;
}

const GemmKernel<float>& gemm_kernel(Isa isa, BFloat16) {
  switch (isa) {
    case Isa::kPortable:
      return kGemmPortableBf16;
    case Isa::kAvx2:
      return kGemmAvx2Bf16;
    case Isa::kAvx512:
      return kGemmAvx512Bf16;
    case Isa::kAvx512Bf16:
      return kGemmPairsBf16;
  }
  return kGemmPortableBf16;
}

const GemmKernel<double>& gemm_kernel(Isa isa, double) {
  switch (isa) {
    case Isa::kPortable:
      return kGemmPortableF64;
    case Isa::kAvx2:
      return kGemmAvx2F64;
    case Isa::kAvx512:
    case Isa::kAvx512Bf16:
      return kGemmAvx512F64;
  }
  return kGemmPortableF64;
}

}  // namespace mtf
