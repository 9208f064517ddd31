// As lanes_avx512.cpp, but for rounding to bf16: by an instruction that takes subnormals, which
// bf16 has as well, for 0.

#include <immintrin.h>

#include "runtime/kernels/lanes/machine.h"

namespace mtf {
namespace {

struct Bf16Floats16 {
  using Floats = float __attribute__((vector_size(64)));
  using Words = std::uint32_t __attribute__((vector_size(64)));
  using Halves = std::uint16_t __attribute__((vector_size(32)));
  static constexpr std::size_t kLanes = 16;

  static Halves rounded_halves(Floats x) {
    constexpr int kSubnormal = 0x20;
    const auto halves = reinterpret_cast<Halves>(_mm512_cvtneps_pbh(x));
    if (_mm512_fpclass_ps_mask(x, kSubnormal) != 0) [[unlikely]] {
      return __builtin_convertvector(LaneMath<Bf16Floats16>::nearest(x) >> 16U, Halves);
    }
    return halves;
  }
};

}  // namespace

const LaneSet& lane_set_avx512bf16() {
  static const LaneSet kSet =
      with_rounding_of<Bf16Floats16>(lane_set_avx512(), std::make_index_sequence<kLaneRegisters>());
  return kSet;
}

}  // namespace mtf
