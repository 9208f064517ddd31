// 4 blocks in a register, and the choice of instruction set.

#include "runtime/vector_math/philox_lanes.h"

#include <immintrin.h>

namespace mtf {
namespace {

struct Words4 {
  using Words = std::uint64_t __attribute__((vector_size(32)));
  static constexpr std::size_t kLanes = 4;

  static Words product(Words x, std::uint64_t factor) {
    const __m256i y = _mm256_set1_epi64x(static_cast<std::int64_t>(factor));
    return reinterpret_cast<Words>(_mm256_mul_epu32(reinterpret_cast<__m256i>(x), y));
  }
};

}  // namespace

std::size_t philox_blocks(const PhiloxStream& stream, std::uint64_t first, std::size_t count,
                          Isa isa, std::uint32_t* words) {
  return isa >= Isa::kAvx512 ? philox_blocks_avx512(stream, first, count, words)
                             : PhiloxLanes<Words4>::run(stream, first, count, words);
}

}  // namespace mtf
