// Lanes side by side in memory are copied, all at once or run by run, inner indices side by side
// are transposed in registers, and in anything else every index is a piece of its own.

#include "runtime/products/pack/gemm_pack.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <immintrin.h>
#include <iterator>
#include <span>

#include "runtime/products/pack/gemm_turn.h"
#include "runtime/products/pack/prefetch.h"

namespace mtf {
namespace {

constexpr std::int64_t kPiece = 64;  // inner indices before the next group of lanes
constexpr std::int64_t kMostLanes = 64;

// Lanes side by side in memory.
struct LaneRun {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t at = 0;  // in memory
};

// Some lanes x 4 indices; out is `width` apart per index.
template <std::size_t kLanes, typename S, typename T>
void transpose(const std::array<const S*, kLanes>& lane, std::int64_t k, std::int64_t width,
               T* out) {
  for (std::int64_t i = 0; i < std::ssize(lane); i += Turn<T>::kLanes) {
    turn_to(lane.data() + i, k, width, out + i);
  }
}

template <typename S>
void transpose(const std::array<const S*, 4>& lane, std::int64_t k, std::int64_t width,
               float* out) {
  __m128 r0 = load_four(lane[0] + k);
  __m128 r1 = load_four(lane[1] + k);
  __m128 r2 = load_four(lane[2] + k);
  __m128 r3 = load_four(lane[3] + k);
  _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
  _mm_storeu_ps(out, r0);
  _mm_storeu_ps(out + width, r1);
  _mm_storeu_ps(out + 2 * width, r2);
  _mm_storeu_ps(out + 3 * width, r3);
}

template <typename S>
void transpose(const std::array<const S*, 2>& lane, std::int64_t k, std::int64_t width,
               float* out) {
  const __m128 r0 = load_four(lane[0] + k);
  const __m128 r1 = load_four(lane[1] + k);
  const __m128 front = _mm_unpacklo_ps(r0, r1);
  const __m128 back = _mm_unpackhi_ps(r0, r1);
  const auto store = [&](std::int64_t index, __m128 two) {
    _mm_storel_pi(reinterpret_cast<__m64*>(out + index * width), two);
    _mm_storeh_pi(reinterpret_cast<__m64*>(out + (index + 1) * width), two);
  };
  store(0, front);
  store(2, back);
}

void transpose(const std::array<const double*, 2>& lane, std::int64_t k, std::int64_t width,
               double* out) {
  for (std::int64_t j = 0; j < kTurned; j += 2) {
    const __m128d r0 = _mm_loadu_pd(lane[0] + k + j);
    const __m128d r1 = _mm_loadu_pd(lane[1] + k + j);
    _mm_storeu_pd(out + j * width, _mm_unpacklo_pd(r0, r1));
    _mm_storeu_pd(out + (j + 1) * width, _mm_unpackhi_pd(r0, r1));
  }
}

using LanePlaces = std::array<std::int64_t, kMostLanes + kLanesAtOnce>;

// kLanes lanes, each with `count` indices side by side in memory. The next lanes' are asked for.
template <std::size_t kLanes, typename S, typename T>
void transpose_group(const S* x, const std::int64_t* places, std::int64_t count, std::int64_t width,
                     T* out) {
  constexpr std::int64_t kInLine = kLineBytes / static_cast<std::int64_t>(sizeof(S));
  std::array<const S*, kLanes> lane;  // NOLINT: filled where they are read
  std::array<const S*, kLanes> next;  // NOLINT
  for (std::size_t i = 0; i < kLanes; ++i) {
    lane[i] = x + places[i];
    next[i] = x + places[i + kLanes];
  }
  std::int64_t k = 0;
  if constexpr (kLanes > 1) {
    for (; k + kTurned <= count; k += kTurned) {
      for (std::size_t i = 0; k % kInLine == 0 && i < kLanes; ++i) {
        __builtin_prefetch(next[i] + k);
      }
      transpose(lane, k, width, out + k * width);
    }
  }
  for (; k < count; ++k) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      out[k * width + static_cast<std::int64_t>(i)] = static_cast<T>(lane[i][k]);
    }
  }
}

template <typename S, typename T>
void transpose_piece(const S* x, const LanePlaces& places, const PackRange& range,
                     std::int64_t count, T* out) {
  const std::int64_t* const from = places.data();
  std::int64_t j = 0;
  for (; j + kLanesAtOnce <= range.lanes; j += kLanesAtOnce) {
    transpose_group<kLanesAtOnce>(x, from + j, count, range.width, out + j);
  }
  if (j + 4 <= range.lanes) {
    transpose_group<4>(x, from + j, count, range.width, out + j);
    j += 4;
  }
  if (j + 2 <= range.lanes) {
    transpose_group<2>(x, from + j, count, range.width, out + j);
    j += 2;
  }
  if (j < range.lanes) {
    transpose_group<1>(x, from + j, count, range.width, out + j);
  }
}

// Two inner indices of lanes that begin at such elements.
void turn_two(const float* x, std::span<const std::int64_t> lanes, std::int64_t width, float* out) {
  const auto pair = [&](std::size_t j) {  // lane j's two, then the next one's
    const __m128 one = _mm_loadl_pi(_mm_setzero_ps(), reinterpret_cast<const __m64*>(x + lanes[j]));
    return _mm_loadh_pi(one, reinterpret_cast<const __m64*>(x + lanes[j + 1]));
  };
  std::size_t j = 0;
  for (; j + 4 <= lanes.size(); j += 4) {
    const __m128 front = pair(j);
    const __m128 back = pair(j + 2);
    _mm_storeu_ps(out + j, _mm_shuffle_ps(front, back, 0x88));
    _mm_storeu_ps(out + width + j, _mm_shuffle_ps(front, back, 0xdd));
  }
  for (; j + 2 <= lanes.size(); j += 2) {
    const __m128 both = pair(j);
    const __m128 turned = _mm_shuffle_ps(both, both, 0xd8);
    _mm_storel_pi(reinterpret_cast<__m64*>(out + j), turned);
    _mm_storeh_pi(reinterpret_cast<__m64*>(out + width + j), turned);
  }
  for (; j < lanes.size(); ++j) {
    out[j] = x[lanes[j]];
    out[width + static_cast<std::int64_t>(j)] = x[lanes[j] + 1];
  }
}

template <typename S, typename T>
void turn_two(const S* x, std::span<const std::int64_t> lanes, std::int64_t width, T* out) {
  for (std::size_t j = 0; j < lanes.size(); ++j) {
    out[j] = static_cast<T>(x[lanes[j]]);
    out[width + static_cast<std::int64_t>(j)] = static_cast<T>(x[lanes[j] + 1]);
  }
}

// Where few inner indices lie side by side, as those of a block of channels do under each tap of a
// convolution.
template <typename S, typename T>
void pack_short_runs(const S* x, const LanePlaces& places, const Offsets& inner,
                     const PackRange& range, T* out) {
  const std::span first(places.data(), static_cast<std::size_t>(range.lanes));
  for (std::int64_t k = 0; k < range.inner;) {
    const S* from = x + inner.at(range.first_inner + k);
    T* to = out + k * range.width;
    if (k + 2 <= range.inner && inner.run(range.first_inner + k) >= 2) {
      turn_two(from, first, range.width, to);
      k += 2;
    } else {
      std::ranges::transform(first, to,
                             [from](std::int64_t lane) { return static_cast<T>(from[lane]); });
      ++k;
    }
  }
}

template <std::size_t kBytes, typename T>
void copy_lanes(const T* from, T* to) {
  // memcpy would not use 32
  constexpr std::size_t kRegister = kBytes % 32 == 0 ? 32 : kBytes % 16 == 0 ? 16 : 8;
  for (std::size_t i = 0; i < kBytes / sizeof(T); i += kRegister / sizeof(T)) {
    if constexpr (kRegister == 32) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
    } else {
      std::memcpy(to + i, from + i, kRegister);
    }
  }
}

// Tiles of so many bytes: of some inner indices all lanes, while the lines that two tiles share are
// near. The next indices' are asked for.
template <std::size_t kBytes, typename T>
void copy_tiles(const T* x, const Offsets& inner, const PackTiles& tiles, T* out) {
  std::array<const T*, kIndicesTogether> from;  // NOLINT: filled where they are read
  std::array<const T*, kIndicesTogether> next;  // NOLINT
  for (std::int64_t k = 0; k < tiles.inner; k += kIndicesTogether) {
    const auto count = static_cast<std::size_t>(std::min(kIndicesTogether, tiles.inner - k));
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t index = tiles.first_inner + k + static_cast<std::int64_t>(i);
      from[i] = x + inner.at(index);
      next[i] = element_ahead(x, inner, index + kIndicesTogether);
    }
    for (std::int64_t tile = 0; tile < tiles.count; ++tile) {
      const std::int64_t lane = tile * tiles.width;
      T* const to = out + lane * tiles.inner + k * tiles.width;
      for (std::size_t i = 0; i < count; ++i) {
        prefetch(next[i] + lane, kBytes);
        copy_lanes<kBytes>(from[i] + lane, to + i * (kBytes / sizeof(T)));
      }
    }
  }
}

template <typename T>
bool copy_all(const T* x, const Offsets& inner, const PackTiles& tiles, T* out) {
  switch (static_cast<std::size_t>(tiles.width) * sizeof(T)) {
    case 128:
      copy_tiles<128>(x, inner, tiles, out);
      return true;
    case 96:
      copy_tiles<96>(x, inner, tiles, out);
      return true;
    case 64:
      copy_tiles<64>(x, inner, tiles, out);
      return true;
    case 48:
      copy_tiles<48>(x, inner, tiles, out);
      return true;
    case 24:
      copy_tiles<24>(x, inner, tiles, out);
      return true;
    default:
      return false;
  }
}

// Lanes side by side in memory, from the first one on.
template <typename T>
void copy(const T* x, const Offsets& inner, const PackRange& range, T* out) {
  if (range.lanes == range.width && copy_all(x, inner,
                                             {.count = 1,
                                              .width = range.width,
                                              .first_inner = range.first_inner,
                                              .inner = range.inner},
                                             out)) {
    return;
  }
  const std::size_t bytes = static_cast<std::size_t>(range.lanes) * sizeof(T);
  for (std::int64_t k = 0; k < range.inner; ++k) {
    std::memcpy(out + k * range.width, x + inner.at(range.first_inner + k), bytes);
  }
}

void widen(const BFloat16* from, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<float>(from[i]);
  }
}

void copy(const BFloat16* x, const Offsets& inner, const PackRange& range, float* out) {
  for (std::int64_t k = 0; k < range.inner; ++k) {
    widen(x + inner.at(range.first_inner + k), range.lanes, out + k * range.width);
  }
}

template <typename S>
void copy_four(const S* from, float* to) {
  _mm_storeu_ps(to, load_four(from));
}

void copy_four(const double* from, double* to) {
  _mm256_storeu_pd(to, _mm256_loadu_pd(from));
}

// Elements side by side, the last four of them perhaps partly again.
template <typename S, typename T>
void copy_run(const S* from, std::int64_t count, T* to) {
  if (count < 4) {
    std::transform(from, from + count, to, [](S x) { return static_cast<T>(x); });
    return;
  }
  for (std::int64_t j = 0; j + 4 <= count; j += 4) {
    copy_four(from + j, to + j);
  }
  copy_four(from + count - 4, to + count - 4);
}

// Lanes in runs of at least four in the mean, as the columns of a convolution's places are that lie
// in short lines. Whether they are.
template <typename S, typename T>
bool copy_runs(const S* x, const Offsets& lanes, const Offsets& inner, const PackRange& range,
               T* out) {
  constexpr std::int64_t kWorthIt = 4;
  std::array<LaneRun, kMostLanes / kWorthIt> places;  // NOLINT: filled where it is read
  std::size_t runs = 0;
  for (std::int64_t j = 0; j < range.lanes; j += places[runs++].count) {
    if (static_cast<std::int64_t>(runs + 1) * kWorthIt > std::min(range.lanes, kMostLanes)) {
      return false;
    }
    const std::int64_t lane = range.first_lane + j;
    places[runs] = {
        .first = j, .count = std::min(lanes.run(lane), range.lanes - j), .at = lanes.at(lane)};
  }
  for (std::int64_t k = 0; k < range.inner; ++k) {
    const S* const from = x + inner.at(range.first_inner + k);
    T* const to = out + k * range.width;
    for (const LaneRun& run : std::span(places).first(runs)) {
      copy_run(from + run.at, run.count, to + run.first);
    }
  }
  return true;
}

// Inner indices side by side.
template <typename S, typename T>
void transpose_runs(const S* x, const LanePlaces& places, const Offsets& inner,
                    const PackRange& range, T* out) {
  for (std::int64_t k = 0; k < range.inner;) {
    const std::int64_t index = range.first_inner + k;
    const std::int64_t count = std::min({inner.run(index), range.inner - k, kPiece});
    transpose_piece(x + inner.at(index), places, range, count, out + k * range.width);
    k += count;
  }
}

template <typename S, typename T>
void pack_range(const S* x, const Offsets& lanes, const Offsets& inner, const PackRange& range,
                T* out) {
  if (range.lanes < range.width) {
    std::fill_n(out, range.inner * range.width, T(0));
  }
  if (lanes.run(range.first_lane) >= range.lanes) {
    return copy(x + lanes.at(range.first_lane), inner, range, out);
  }
  if (copy_runs(x, lanes, inner, range, out)) {
    return;
  }
  const bool is_short = inner.run(range.first_inner) < kTurned;
  LanePlaces places;  // NOLINT: filled where it is read
  for (std::int64_t j = 0; j < range.lanes; j += kMostLanes) {
    PackRange part = range;
    part.first_lane += j;
    part.lanes = std::min(kMostLanes, range.lanes - j);
    find_places(x, lanes, part.first_lane, part.lanes, places);
    if (is_short) {
      pack_short_runs(x, places, inner, part, out + j);
    } else {
      transpose_runs(x, places, inner, part, out + j);
    }
  }
}

}  // namespace

void pack(const BFloat16* x, const Offsets& lanes, const Offsets& inner, const PackRange& range,
          float* out) {
  pack_range(x, lanes, inner, range, out);
}

void pack(const float* x, const Offsets& lanes, const Offsets& inner, const PackRange& range,
          float* out) {
  pack_range(x, lanes, inner, range, out);
}

void pack(const double* x, const Offsets& lanes, const Offsets& inner, const PackRange& range,
          double* out) {
  pack_range(x, lanes, inner, range, out);
}

bool pack_tiles(const float* x, const Offsets& inner, const PackTiles& tiles, float* out) {
  return copy_all(x, inner, tiles, out);
}

bool pack_tiles(const double* x, const Offsets& inner, const PackTiles& tiles, double* out) {
  return copy_all(x, inner, tiles, out);
}

}  // namespace mtf
