// bf16 and f16 widened in a register: the bits of one after the other. Every processor that mtf
// runs on has the instructions (x86-64-v3 includes F16C), so there is one form for all instruction
// sets.

#pragma once

#include <cstddef>
#include <immintrin.h>
#include <type_traits>

#include "ir/dtype.h"

namespace mtf {

using WideLanes = float __attribute__((vector_size(32)));
inline constexpr std::size_t kNarrowLanes = sizeof(WideLanes) / sizeof(float);

template <typename T>
inline constexpr bool kHasNarrowLanes = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;

inline WideLanes widened_lanes(const BFloat16* x) {
  const __m128i stored = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x));
  return reinterpret_cast<WideLanes>(_mm256_slli_epi32(_mm256_cvtepu16_epi32(stored), 16));
}

inline WideLanes widened_lanes(const Float16* x) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}

}  // namespace mtf
