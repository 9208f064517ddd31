// Lanes side by side in memory are copied, inner indices side by side are transposed in registers,
// and in anything else every index is a piece of its own.

#include "runtime/gemm_pack.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <immintrin.h>

namespace mtf {
namespace {

constexpr std::int64_t kGroup = 8;   // lanes transposed together
constexpr std::int64_t kStep = 4;    // inner indices transposed at once
constexpr std::int64_t kPiece = 64;  // inner indices before the next group of lanes

// 8 lanes x 4 indices; out is `width` apart per index.
void transpose(const std::array<const float*, kGroup>& lane, std::int64_t k, std::int64_t width,
               float* out) {
  const auto two = [&lane, k](std::size_t i) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(lane[i] + k)),
                                _mm_loadu_ps(lane[i + 4] + k), 1);
  };
  const __m256 r0 = two(0);
  const __m256 r1 = two(1);
  const __m256 r2 = two(2);
  const __m256 r3 = two(3);
  const __m256 lo01 = _mm256_unpacklo_ps(r0, r1);
  const __m256 hi01 = _mm256_unpackhi_ps(r0, r1);
  const __m256 lo23 = _mm256_unpacklo_ps(r2, r3);
  const __m256 hi23 = _mm256_unpackhi_ps(r2, r3);
  _mm256_storeu_ps(out, _mm256_shuffle_ps(lo01, lo23, 0x44));
  _mm256_storeu_ps(out + width, _mm256_shuffle_ps(lo01, lo23, 0xee));
  _mm256_storeu_ps(out + 2 * width, _mm256_shuffle_ps(hi01, hi23, 0x44));
  _mm256_storeu_ps(out + 3 * width, _mm256_shuffle_ps(hi01, hi23, 0xee));
}

void transpose(const std::array<const float*, 4>& lane, std::int64_t k, std::int64_t width,
               float* out) {
  __m128 r0 = _mm_loadu_ps(lane[0] + k);
  __m128 r1 = _mm_loadu_ps(lane[1] + k);
  __m128 r2 = _mm_loadu_ps(lane[2] + k);
  __m128 r3 = _mm_loadu_ps(lane[3] + k);
  _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
  _mm_storeu_ps(out, r0);
  _mm_storeu_ps(out + width, r1);
  _mm_storeu_ps(out + 2 * width, r2);
  _mm_storeu_ps(out + 3 * width, r3);
}

template <std::size_t kLanes>
void transpose(const std::array<const double*, kLanes>& lane, std::int64_t k, std::int64_t width,
               double* out) {
  const auto two = [&lane](std::size_t i, std::int64_t at) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(lane[i] + at)),
                                _mm_loadu_pd(lane[i + 2] + at), 1);
  };
  for (std::size_t i = 0; i < kLanes; i += 4) {
    for (std::int64_t j = 0; j < kStep; j += 2) {
      const __m256d even = two(i, k + j);
      const __m256d odd = two(i + 1, k + j);
      _mm256_storeu_pd(out + i + j * width, _mm256_unpacklo_pd(even, odd));
      _mm256_storeu_pd(out + i + (j + 1) * width, _mm256_unpackhi_pd(even, odd));
    }
  }
}

// kLanes lanes, each with `count` indices side by side in memory.
template <std::size_t kLanes, typename T>
void transpose_group(const T* x, const Offsets& lanes, std::int64_t first, std::int64_t count,
                     std::int64_t width, T* out) {
  std::array<const T*, kLanes> lane;
  for (std::size_t i = 0; i < kLanes; ++i) {
    lane[i] = x + lanes.at(first + static_cast<std::int64_t>(i));
  }
  std::int64_t k = 0;
  if constexpr (kLanes > 1) {
    for (; k + kStep <= count; k += kStep) {
      transpose(lane, k, width, out + k * width);
    }
  }
  for (; k < count; ++k) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      out[k * width + static_cast<std::int64_t>(i)] = lane[i][k];
    }
  }
}

template <typename T>
void transpose_piece(const T* x, const Offsets& lanes, const PackRange& range, std::int64_t count,
                     T* out) {
  std::int64_t j = 0;
  for (; j + kGroup <= range.lanes; j += kGroup) {
    transpose_group<kGroup>(x, lanes, range.first_lane + j, count, range.width, out + j);
  }
  if (j + 4 <= range.lanes) {
    transpose_group<4>(x, lanes, range.first_lane + j, count, range.width, out + j);
    j += 4;
  }
  for (; j < range.lanes; ++j) {
    transpose_group<1>(x, lanes, range.first_lane + j, count, range.width, out + j);
  }
}

template <std::size_t kBytes, typename T>
void copy_all(const T* x, const Offsets& inner, const PackRange& range, T* out) {
  constexpr std::size_t kRegister = kBytes % 32 == 0 ? 32 : 16;  // memcpy would not use 32
  for (std::int64_t k = 0; k < range.inner; ++k) {
    const T* from = x + inner.at(range.first_inner + k);
    for (std::size_t i = 0; i < kBytes / sizeof(T); i += kRegister / sizeof(T)) {
      if constexpr (kRegister == 32) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
      } else {
        std::memcpy(out + i, from + i, kRegister);
      }
    }
    out += kBytes / sizeof(T);
  }
}

// Lanes side by side in memory.
template <typename T>
void copy(const T* x, const Offsets& inner, const PackRange& range, T* out) {
  const std::size_t bytes = static_cast<std::size_t>(range.lanes) * sizeof(T);
  if (range.lanes == range.width && bytes == 128) {
    return copy_all<128>(x, inner, range, out);
  }
  if (range.lanes == range.width && bytes == 96) {
    return copy_all<96>(x, inner, range, out);
  }
  if (range.lanes == range.width && bytes == 64) {
    return copy_all<64>(x, inner, range, out);
  }
  if (range.lanes == range.width && bytes == 48) {
    return copy_all<48>(x, inner, range, out);
  }
  for (std::int64_t k = 0; k < range.inner; ++k) {
    std::memcpy(out + k * range.width, x + inner.at(range.first_inner + k), bytes);
  }
}

template <typename T>
void pack_range(const T* x, const Offsets& lanes, const Offsets& inner, const PackRange& range,
                T* out) {
  if (range.lanes < range.width) {
    std::fill_n(out, range.inner * range.width, T(0));
  }
  if (lanes.run(range.first_lane) >= range.lanes) {
    return copy(x + lanes.at(range.first_lane), inner, range, out);
  }
  for (std::int64_t k = 0; k < range.inner;) {
    const std::int64_t index = range.first_inner + k;
    const std::int64_t count = std::min({inner.run(index), range.inner - k, kPiece});
    transpose_piece(x + inner.at(index), lanes, range, count, out + k * range.width);
    k += count;
  }
}

}  // namespace

void pack(const float* x, const Offsets& lanes, const Offsets& inner, const PackRange& range,
          float* out) {
  pack_range(x, lanes, inner, range, out);
}

void pack(const double* x, const Offsets& lanes, const Offsets& inner, const PackRange& range,
          double* out) {
  pack_range(x, lanes, inner, range, out);
}

}  // namespace mtf
