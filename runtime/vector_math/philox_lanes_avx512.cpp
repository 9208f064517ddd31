// 8 blocks in a register.

#include <immintrin.h>

#include "runtime/vector_math/philox_lanes.h"

namespace mtf {
namespace {

struct Words8 {
  using Words = std::uint64_t __attribute__((vector_size(64)));
  static constexpr std::size_t kLanes = 8;

  static Words product(Words x, std::uint64_t factor) {
    constexpr __mmask8 kAllLanes = 0xff;
    const __m512i y = _mm512_set1_epi64(static_cast<std::int64_t>(factor));
    return reinterpret_cast<Words>(
        _mm512_maskz_mul_epu32(kAllLanes, reinterpret_cast<__m512i>(x), y));
  }
};

}  // namespace

std::size_t philox_blocks_avx512(const PhiloxStream& stream, std::uint64_t first, std::size_t count,
                                 std::uint32_t* words) {
  return PhiloxLanes<Words8>::run(stream, first, count, words);
}

}  // namespace mtf
