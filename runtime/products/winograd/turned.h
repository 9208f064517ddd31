// What lies apart turned on its way to and from a tile's arithmetic, which takes rows of elements
// that lie side by side: elements along a side of x become rows of the summed dim, and results
// become rows along that side. Nothing is computed here.

#pragma once

#include <cstdint>
#include <immintrin.h>
#include <span>

#include "runtime/products/offsets.h"
#include "runtime/products/pack/gemm_turn.h"

namespace mtf {

inline constexpr std::int64_t kLongestLine = 16;  // tiles in a line that are turned at once

inline void store_eight(float* to, __m256 x) {
  _mm256_storeu_ps(to, x);
}

// Of floats that are bf16.
inline void store_eight(BFloat16* to, __m256 x) {
  const __m256i bits = _mm256_srli_epi32(_mm256_castps_si256(x), 16);
  const __m128i both =
      _mm_packus_epi32(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), both);
}

// `to[c * lanes + k]` is the element that is c steps of `along` and k of `apart` from the first.
template <typename S>
struct TurnedElements {
  const S* from = nullptr;
  std::int64_t apart = 0;
  std::int64_t along = 1;
  std::int64_t lanes = 0;
  std::int64_t count = 0;

  void to(S* to) const {
    std::int64_t k = 0;
    if (along == 1 && count >= kTurned) {
      for (; k + kLanes <= lanes; k += kLanes) {
        turn_lanes(k, to);
      }
    }
    for (; k < lanes; ++k) {
      for (std::int64_t c = 0; c < count; ++c) {
        to[c * lanes + k] = from[k * apart + c * along];
      }
    }
  }

 private:
  static constexpr std::int64_t kLanes = Turn<float>::kLanes;

  // Some of the last ones twice, if they are not a multiple of what is turned at once.
  void turn_lanes(std::int64_t first, S* to) const {
    const S* lane[kLanes];  // NOLINT(modernize-avoid-c-arrays): as `turn` takes it
    for (std::int64_t k = 0; k < kLanes; ++k) {
      lane[k] = from + (first + k) * apart;
    }
    for (std::int64_t next = 0; next < count; next += kTurned) {
      const std::int64_t c = next + kTurned <= count ? next : count - kTurned;
      Turn<float>::Reg turned[kTurned];  // NOLINT(modernize-avoid-c-arrays)
      Turn<float>::turn(lane, c, turned);
      for (std::int64_t k = 0; k < kTurned; ++k) {
        store_eight(to + (c + k) * lanes + first, turned[k]);
      }
    }
  }
};

// Results side by side along a side of theirs, each with its columns' numbers.
struct TurnedResults {
  std::span<const float* const> places;
  std::int64_t count = 0;  // of columns
  std::int64_t first = 0;  // of them, in
  const Offsets& cols;     // where each lies from `to` on

  void to(float* to) const {
    std::int64_t j = 0;
    for (; j + kTurned <= count; j += kTurned) {
      four_cols(j, to);
    }
    for (; j < count; ++j) {
      rest_of_places(0, j, 1, to);
    }
  }

 private:
  static constexpr std::int64_t kLanes = Turn<float>::kLanes;

  void four_cols(std::int64_t j, float* to) const {
    const auto size = static_cast<std::int64_t>(places.size());
    std::int64_t p = 0;
    for (; p + kLanes <= size; p += kLanes) {
      Turn<float>::Reg turned[kTurned];  // NOLINT(modernize-avoid-c-arrays)
      Turn<float>::turn(places.data() + p, j, turned);
      for (std::int64_t k = 0; k < kTurned; ++k) {
        Turn<float>::store(to + cols.at(first + j + k) + p, turned[k]);
      }
    }
    if (p + kTurned <= size) {
      four_places(p, j, to);
      p += kTurned;
    }
    rest_of_places(p, j, kTurned, to);
  }

  void four_places(std::int64_t p, std::int64_t j, float* to) const {
    const float* const* const place = places.data() + p;
    __m128 r0 = load_four(place[0] + j);
    __m128 r1 = load_four(place[1] + j);
    __m128 r2 = load_four(place[2] + j);
    __m128 r3 = load_four(place[3] + j);
    _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
    _mm_storeu_ps(to + cols.at(first + j) + p, r0);
    _mm_storeu_ps(to + cols.at(first + j + 1) + p, r1);
    _mm_storeu_ps(to + cols.at(first + j + 2) + p, r2);
    _mm_storeu_ps(to + cols.at(first + j + 3) + p, r3);
  }

  void rest_of_places(std::int64_t p, std::int64_t j, std::int64_t cols_of, float* to) const {
    for (std::int64_t k = j; k < j + cols_of; ++k) {
      for (auto i = static_cast<std::size_t>(p); i < places.size(); ++i) {
        to[cols.at(first + k) + static_cast<std::int64_t>(i)] = places[i][k];
      }
    }
  }
};

}  // namespace mtf
