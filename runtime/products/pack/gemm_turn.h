// Squares of a matrix turned in registers: inner indices side by side in memory become lanes side
// by side. With AVX2, which every machine has that we build for; nothing is computed here.

#pragma once

#include <cstdint>
#include <immintrin.h>

#include "ir/dtype.h"

namespace mtf {

inline constexpr std::int64_t kTurned = 4;  // inner indices at once

// Four elements side by side.
inline __m128 load_four(const float* x) {
  return _mm_loadu_ps(x);
}

inline __m128 load_four(const BFloat16* x) {
  const __m128i bits = _mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(x)));
  return _mm_castsi128_ps(_mm_slli_epi32(bits, 16));
}

template <typename T>
struct Turn;

template <>
struct Turn<float> {
  using Reg = __m256;
  static constexpr std::int64_t kLanes = 8;

  // out[k] = lane[0][at + k], lane[1][at + k], …
  template <typename S>
  static void turn(const S* const* lane, std::int64_t at, Reg* out) {
    const auto two = [lane, at](int i) {
      return _mm256_insertf128_ps(_mm256_castps128_ps256(load_four(lane[i] + at)),
                                  load_four(lane[i + 4] + at), 1);
    };
    const Reg r0 = two(0);
    const Reg r1 = two(1);
    const Reg r2 = two(2);
    const Reg r3 = two(3);
    const Reg lo01 = _mm256_unpacklo_ps(r0, r1);
    const Reg hi01 = _mm256_unpackhi_ps(r0, r1);
    const Reg lo23 = _mm256_unpacklo_ps(r2, r3);
    const Reg hi23 = _mm256_unpackhi_ps(r2, r3);
    out[0] = _mm256_shuffle_ps(lo01, lo23, 0x44);
    out[1] = _mm256_shuffle_ps(lo01, lo23, 0xee);
    out[2] = _mm256_shuffle_ps(hi01, hi23, 0x44);
    out[3] = _mm256_shuffle_ps(hi01, hi23, 0xee);
  }

  static Reg load(const float* x) { return _mm256_loadu_ps(x); }
  static Reg broadcast(const float* x) { return _mm256_broadcast_ss(x); }
  static Reg fma(Reg x, Reg y, Reg z) { return _mm256_fmadd_ps(x, y, z); }
  static void store(float* x, Reg y) { _mm256_storeu_ps(x, y); }
};

template <>
struct Turn<double> {
  using Reg = __m256d;
  static constexpr std::int64_t kLanes = 4;

  static void turn(const double* const* lane, std::int64_t at, Reg* out) {
    const auto two = [lane](int i, std::int64_t k) {
      return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(lane[i] + k)),
                                  _mm_loadu_pd(lane[i + 2] + k), 1);
    };
    for (int j = 0; j < kTurned; j += 2) {
      const Reg even = two(0, at + j);
      const Reg odd = two(1, at + j);
      out[j] = _mm256_unpacklo_pd(even, odd);
      out[j + 1] = _mm256_unpackhi_pd(even, odd);
    }
  }

  static Reg load(const double* x) { return _mm256_loadu_pd(x); }
  static Reg broadcast(const double* x) { return _mm256_broadcast_sd(x); }
  static Reg fma(Reg x, Reg y, Reg z) { return _mm256_fmadd_pd(x, y, z); }
  static void store(double* x, Reg y) { _mm256_storeu_pd(x, y); }
};

// Turn<T>::kLanes lanes x kTurned indices from `at` on; `out` is `width` apart per index.
template <typename S, typename T>
void turn_to(const S* const* lanes, std::int64_t at, std::int64_t width, T* out) {
  typename Turn<T>::Reg turned[kTurned];  // NOLINT: of registers, which std::array warns of
  Turn<T>::turn(lanes, at, turned);
  for (std::int64_t i = 0; i < kTurned; ++i) {
    Turn<T>::store(out + i * width, turned[i]);
  }
}

}  // namespace mtf
