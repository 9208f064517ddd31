// Transforms in plain C++, which also say what the others have to compute; and the choice.

#include "runtime/products/winograd/transforms_impl.h"

namespace mtf {
namespace {

struct One {
  using Reg = float;
  static constexpr int kLanes = 1;
  static Reg load(const float* x) { return *x; }
  static Reg all(float x) { return x; }
  static void store(float* x, Reg y) { *x = y; }
};

}  // namespace

constinit const WinogradTransforms kWinogradPortable = make_winograd_transforms<One, One>();

const WinogradTransforms& winograd_transforms(Isa isa) {
  switch (isa) {
    case Isa::kPortable:
      return kWinogradPortable;
    case Isa::kAvx2:
      return kWinogradAvx2;
    case Isa::kAvx512:
    case Isa::kAvx512Bf16:
      return kWinogradAvx512;
  }
  return kWinogradPortable;
}

}  // namespace mtf
