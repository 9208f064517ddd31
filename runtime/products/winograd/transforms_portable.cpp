// Transforms in plain C++, which also say what the others have to compute; and the choice.

#include "runtime/products/winograd/transforms_impl.h"

namespace mtf {
namespace {

struct Plain {};

}  // namespace

constinit const WinogradTransforms kWinogradPortable = make_winograd_transforms<One<Plain>>();

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
