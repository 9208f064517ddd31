// Transforms in plain C++, which also say what the others have to compute; and the choice.

#include "runtime/products/winograd/transforms_impl.h"

namespace mtf {
namespace {

struct Plain {};

template <typename Transforms>
const Transforms& for_isa(Isa isa, const Transforms& portable, const Transforms& avx2,
                          const Transforms& avx512) {
  switch (isa) {
    case Isa::kPortable:
      return portable;
    case Isa::kAvx2:
      return avx2;
    case Isa::kAvx512:
    case Isa::kAvx512Bf16:
      return avx512;
  }
  return portable;
}

}  // namespace

constinit const WinogradTransforms<float> kWinogradPortable =
    make_winograd_transforms<One<Plain>, float>();
constinit const WinogradTransforms<BFloat16> kWinogradPortableBf16 =
    make_winograd_transforms<One<Plain>, BFloat16>();
constinit const WinogradSumTransforms kWinogradSumsPortable =
    make_winograd_sum_transforms<One<Plain>>();

const WinogradTransforms<float>& winograd_transforms(Isa isa, float /*stored*/) {
  return for_isa(isa, kWinogradPortable, kWinogradAvx2, kWinogradAvx512);
}

const WinogradTransforms<BFloat16>& winograd_transforms(Isa isa, BFloat16 /*stored*/) {
  return for_isa(isa, kWinogradPortableBf16, kWinogradAvx2Bf16, kWinogradAvx512Bf16);
}

const WinogradSumTransforms& winograd_sum_transforms(Isa isa) {
  return for_isa(isa, kWinogradSumsPortable, kWinogradSumsAvx2, kWinogradSumsAvx512);
}

}  // namespace mtf
