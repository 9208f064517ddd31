// 16 floats in a register.

#include <immintrin.h>

#include "runtime/kernels/lanes/machine.h"

namespace mtf {
namespace {

constexpr __mmask16 kAll = 0xffff;  // the unmasked form starts from an undefined register

struct Floats16 {
  using Floats = float __attribute__((vector_size(64)));
  using Words = std::uint32_t __attribute__((vector_size(64)));
  using Halves = std::uint16_t __attribute__((vector_size(32)));
  using Bytes = std::uint8_t __attribute__((vector_size(16)));
  static constexpr std::size_t kLanes = 16;

  static Floats spread(float x) { return _mm512_set1_ps(x); }
  static Floats sqrt(Floats x) { return _mm512_maskz_sqrt_ps(kAll, x); }
};

}  // namespace

const LaneSet& lane_set_avx512() {
  static const LaneSet kSet = make_lane_set<Floats16>(std::make_index_sequence<kLaneRegisters>());
  return kSet;
}

}  // namespace mtf
