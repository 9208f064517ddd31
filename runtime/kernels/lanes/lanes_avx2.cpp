// 8 floats in a register.

#include <immintrin.h>

#include "runtime/kernels/lanes/machine.h"

namespace mtf {
namespace {

struct Floats8 {
  using Floats = float __attribute__((vector_size(32)));
  using Words = std::uint32_t __attribute__((vector_size(32)));
  using Halves = std::uint16_t __attribute__((vector_size(16)));
  using Bytes = std::uint8_t __attribute__((vector_size(8)));
  static constexpr std::size_t kLanes = 8;

  static Floats spread(float x) { return _mm256_set1_ps(x); }
  static Floats sqrt(Floats x) { return _mm256_sqrt_ps(x); }
  static bool has_infinite(Floats x) {
    const Floats none = x - x;  // 0, or NaN of what is not finite
    return _mm256_movemask_ps(_mm256_cmp_ps(none, none, _CMP_UNORD_Q)) != 0;
  }
};

}  // namespace

const LaneSet& lane_set_avx2() {
  static const LaneSet kSet = make_lane_set<Floats8>(std::make_index_sequence<kLaneRegisters>());
  return kSet;
}

}  // namespace mtf
