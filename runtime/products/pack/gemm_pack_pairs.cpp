// Words of two bf16: rows of lanes are interleaved, inner indices side by side are words already,
// in the other order, which are turned like floats.

#include <algorithm>
#include <array>
#include <cstring>
#include <immintrin.h>

#include "ir/support/interval.h"
#include "runtime/products/pack/gemm_pack.h"
#include "runtime/products/pack/gemm_turn.h"
#include "runtime/products/pack/prefetch.h"

namespace mtf {
namespace {

constexpr std::int64_t kMostLanes = 32;  // of a tile
constexpr std::int64_t kFewLanes = 4;
constexpr std::int64_t kFewWords = 2;
constexpr std::int64_t kPiece = 64;       // words of a lane before the next lanes
constexpr std::int64_t kLanesAhead = 64;  // that are asked for: the next tiles', in the same rows

void store_word(float* to, std::uint16_t first, std::uint16_t second) {
  const std::uint32_t word = std::uint32_t{first} << 16U | second;
  std::memcpy(to, &word, sizeof(word));
}

// Lanes side by side in memory. Null: there is no second index.
void interleave(const BFloat16* first, const BFloat16* second, std::uint16_t end,
                std::int64_t lanes, float* out) {
  if (second == nullptr) {
    for (std::int64_t j = 0; j < lanes; ++j) {
      store_word(out + j, first[j].bits, end);
    }
    return;
  }
  for (std::int64_t j = 0; j < lanes; ++j) {
    store_word(out + j, first[j].bits, second[j].bits);
  }
}

__m256 with_first_above(__m256 words) {
  const __m256i x = _mm256_castps_si256(words);
  return _mm256_castsi256_ps(_mm256_or_si256(_mm256_slli_epi32(x, 16), _mm256_srli_epi32(x, 16)));
}

__m128 with_first_above(__m128 words) {
  const __m128i x = _mm_castps_si128(words);
  return _mm_castsi128_ps(_mm_or_si128(_mm_slli_epi32(x, 16), _mm_srli_epi32(x, 16)));
}

template <std::size_t kLanes>
using LanesAt = std::array<const BFloat16*, kLanes>;

// Words k and k + 1: all that there are in a convolution with few channels in a leaf.
template <std::size_t kLanes>
void turn_few_words(const LanesAt<kLanes>& lanes, std::int64_t k, std::int64_t width, float* out) {
  const auto two = [&lanes, k](std::size_t j) {
    const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(lanes[j] + 2 * k));
    const __m128i next = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(lanes[j + 1] + 2 * k));
    return _mm_castsi128_ps(_mm_unpacklo_epi64(first, next));
  };
  for (std::size_t j = 0; j < kLanes; j += kFewLanes) {
    const __m128 lower = two(j);
    const __m128 upper = two(j + 2);
    float* const to = out + k * width + j;
    _mm_storeu_ps(to, with_first_above(_mm_shuffle_ps(lower, upper, 0x88)));
    _mm_storeu_ps(to + width, with_first_above(_mm_shuffle_ps(lower, upper, 0xdd)));
  }
}

// Where a line begins with word k.
template <std::size_t kLanes>
void prefetch_words(const LanesAt<kLanes>& lanes, std::int64_t k) {
  constexpr std::int64_t kInLine = kLineBytes / 4;
  for (std::size_t j = 0; k % kInLine == 0 && j < kLanes; ++j) {
    __builtin_prefetch(lanes[j] + 2 * k);
  }
}

// Lanes each with `words` pairs side by side in memory, not always at addresses of words. The next
// lanes' are asked for.
template <std::size_t kLanes>
void turn_lanes(const LanesAt<kLanes>& lanes, const LanesAt<kLanes>& next, std::int64_t words,
                std::int64_t width, float* out) {
  std::int64_t k = 0;
  if constexpr (kLanes == kLanesAtOnce) {
    std::array<const float*, kLanes> rows;  // NOLINT: filled where it is read
    for (std::size_t j = 0; j < rows.size(); ++j) {
      rows[j] = reinterpret_cast<const float*>(lanes[j]);
    }
    for (; k + kTurned <= words; k += kTurned) {
      prefetch_words(next, k);
      Turn<float>::Reg turned[kTurned];  // NOLINT: of registers, which std::array warns of
      Turn<float>::turn(rows.data(), k, turned);
      for (std::int64_t i = 0; i < kTurned; ++i) {
        Turn<float>::store(out + (k + i) * width, with_first_above(turned[i]));
      }
    }
  }
  if constexpr (kLanes >= kFewLanes) {
    for (; k + kFewWords <= words; k += kFewWords) {
      turn_few_words(lanes, k, width, out);
    }
  }
  for (; k < words; ++k) {
    for (std::size_t j = 0; j < lanes.size(); ++j) {
      store_word(out + k * width + static_cast<std::int64_t>(j), lanes[j][2 * k].bits,
                 lanes[j][2 * k + 1].bits);
    }
  }
}

// Lanes of two rows, 4 or 8 at a time.
template <std::int64_t kLanes>
void interleave_lanes(const BFloat16* first, const BFloat16* second, float* out) {
  for (std::int64_t j = 0; j + kLanesAtOnce <= kLanes; j += kLanesAtOnce) {
    const auto wide = [j](const BFloat16* x) {
      return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + j)));
    };
    const __m256i words = _mm256_or_si256(_mm256_slli_epi32(wide(first), 16), wide(second));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + j), words);
  }
  if constexpr (kLanes % kLanesAtOnce != 0) {
    constexpr std::int64_t kLast = kLanes - kFewLanes;
    const auto wide = [](const BFloat16* x) {
      return _mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(x + kLast)));
    };
    const __m128i words = _mm_or_si128(_mm_slli_epi32(wide(first), 16), wide(second));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + kLast), words);
  }
}

// What all words of a leaf share.
struct Pairs {
  const BFloat16* x = nullptr;
  const Offsets& lanes;
  const Offsets& inner;
  const PackRange& range;
  std::uint16_t end = 0;
  std::array<std::int64_t, kMostLanes + kLanesAtOnce> places = {};  // of lanes that are apart

  [[nodiscard]] bool side_by_side() const { return lanes.run(range.first_lane) >= range.lanes; }
};

// One word of each lane; `last`: it has but one index.
void pack_word(const Pairs& pairs, std::int64_t index, bool last, float* out) {
  const BFloat16* const first = pairs.x + pairs.inner.at(index);
  const BFloat16* const second = last ? nullptr : pairs.x + pairs.inner.at(index + 1);
  for (std::int64_t j = 0; j < pairs.range.lanes;) {
    const std::int64_t lane = pairs.lanes.at(pairs.range.first_lane + j);
    const std::int64_t run =
        std::min(pairs.lanes.run(pairs.range.first_lane + j), pairs.range.lanes - j);
    interleave(first + lane, last ? nullptr : second + lane, pairs.end, run, out + j);
    j += run;
  }
}

// As many of the lanes from the j-th on as there are kLanes of them together; the next one then.
// Behind the last lanes come the first ones' next words.
template <std::size_t kLanes>
std::int64_t pack_lanes(const Pairs& pairs, const BFloat16* x, std::int64_t j, std::int64_t words,
                        float* out) {
  for (; j + static_cast<std::int64_t>(kLanes) <= pairs.range.lanes;
       j += static_cast<std::int64_t>(kLanes)) {
    LanesAt<kLanes> lanes;
    LanesAt<kLanes> next;
    const std::int64_t* const places = pairs.places.data() + j;
    const bool is_last = j + 2 * static_cast<std::int64_t>(kLanes) > pairs.range.lanes;
    for (std::size_t i = 0; i < kLanes; ++i) {
      lanes[i] = x + places[i];
      next[i] = is_last ? x + pairs.places[i] + 2 * words : x + places[i + kLanes];
    }
    turn_lanes<kLanes>(lanes, next, words, pairs.range.width, out + j);
  }
  return j;
}

// `words` words whose indices lie side by side: some of all lanes, then the next ones, so that what
// is written stays near until all lanes are there.
void pack_run(const Pairs& pairs, std::int64_t index, std::int64_t words, float* out) {
  const BFloat16* const x = pairs.x + pairs.inner.at(index);
  for (std::int64_t k = 0; k < words; k += kPiece) {
    const std::int64_t piece = std::min(kPiece, words - k);
    float* const to = out + k * pairs.range.width;
    const std::int64_t eights = pack_lanes<kLanesAtOnce>(pairs, x + 2 * k, 0, piece, to);
    const std::int64_t fours = pack_lanes<kFewLanes>(pairs, x + 2 * k, eights, piece, to);
    pack_lanes<1>(pairs, x + 2 * k, fours, piece, to);
  }
}

// `words` words of as many lanes side by side as a tile has.
template <std::int64_t kLanes>
void interleave_all(const Pairs& pairs, std::int64_t index, std::int64_t words, float* out) {
  const BFloat16* const x = pairs.x + pairs.lanes.at(pairs.range.first_lane);
  constexpr auto kBytes = kLanes * static_cast<std::int64_t>(sizeof(BFloat16));
  for (std::int64_t k = 0; k < words; ++k) {
    const std::int64_t at = index + 2 * k;
    prefetch(element_ahead(x, pairs.inner, at + kIndicesAhead), kBytes);
    prefetch(element_ahead(x, pairs.inner, at + kIndicesAhead + 1), kBytes);
    const BFloat16* const first = x + pairs.inner.at(at);
    const BFloat16* const second = x + pairs.inner.at(at + 1);
    __builtin_prefetch(first + kLanesAhead);
    __builtin_prefetch(second + kLanesAhead);
    interleave_lanes<kLanes>(first, second, out + k * kLanes);
  }
}

// The same if there is a loop for so many lanes; whether there is.
bool interleave_full(const Pairs& pairs, std::int64_t index, std::int64_t words, float* out) {
  if (pairs.range.lanes != pairs.range.width) {
    return false;
  }
  switch (pairs.range.width) {
    case 32:
      interleave_all<32>(pairs, index, words, out);
      return true;
    case 12:
      interleave_all<12>(pairs, index, words, out);
      return true;
    default:
      return false;
  }
}

// Words `begin` to `end` of the leaf whose indices begin at `index`.
void pack_leaf(const Pairs& pairs, std::int64_t index, std::int64_t leaf_length, Interval words,
               float* out) {
  const std::int64_t width = pairs.range.width;
  const bool by_lanes = pairs.side_by_side();
  if (by_lanes && 2 * words.end() <= leaf_length &&
      interleave_full(pairs, index + 2 * words.begin, words.extent, out)) {
    return;
  }
  for (std::int64_t k = words.begin; k < words.end();) {
    const std::int64_t at = index + 2 * k;
    const bool last = 2 * k + 1 == leaf_length;
    const std::int64_t side_by_side =
        by_lanes || last
            ? 0
            : std::min({pairs.inner.run(at) / 2, words.end() - k, (leaf_length - 2 * k) / 2});
    float* const to = out + (k - words.begin) * width;
    if (side_by_side > 1) {
      pack_run(pairs, at, side_by_side, to);
      k += side_by_side;
    } else {
      pack_word(pairs, at, last, to);
      ++k;
    }
  }
}

}  // namespace

void pack_pairs(const BFloat16* x, const Offsets& lanes, const Offsets& inner,
                const PackRange& range, std::int64_t leaf_length, PairEnd end, float* out) {
  if (range.lanes < range.width) {
    std::fill_n(out, range.inner * range.width, 0.0F);
  }
  Pairs pairs = {.x = x,
                 .lanes = lanes,
                 .inner = inner,
                 .range = range,
                 .end = static_cast<std::uint16_t>(end)};
  if (!pairs.side_by_side()) {
    find_places(x, lanes, range.first_lane, range.lanes, pairs.places);
  }
  if (leaf_length % 2 == 0) {  // then leaves do not show
    return pack_leaf(pairs, 0, inner.size, {.begin = range.first_inner, .extent = range.inner},
                     out);
  }
  const std::int64_t leaf_words = leaf_length / 2 + 1;
  for (std::int64_t k = 0; k < range.inner;) {
    const std::int64_t word = range.first_inner + k;
    const std::int64_t leaf = word / leaf_words;
    const std::int64_t begin = word % leaf_words;
    const std::int64_t count = std::min(leaf_words - begin, range.inner - k);
    pack_leaf(pairs, leaf * leaf_length, leaf_length, {.begin = begin, .extent = count},
              out + k * range.width);
    k += count;
  }
}

}  // namespace mtf
