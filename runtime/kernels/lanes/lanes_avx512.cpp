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
  static bool has_infinite(Floats x) {
    constexpr int kNotFinite = 0x01 | 0x80 | 0x08 | 0x10;  // NaN of both kinds, inf, -inf
    return _mm512_fpclass_ps_mask(x, kNotFinite) != 0;
  }
};

}  // namespace

const LaneSet& lane_set_avx512() {
  static const LaneSet kSet = make_lane_set<Floats16>(std::make_index_sequence<kLaneRegisters>());
  return kSet;
}

}  // namespace mtf
