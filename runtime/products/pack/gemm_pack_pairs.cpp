// Words of two bf16: rows of lanes are interleaved, inner indices side by side are words already,
// in the other order, which are turned like floats.

#include <algorithm>
#include <array>
#include <cstring>
#include <immintrin.h>

#include "ir/support/interval.h"
#include "runtime/products/pack/gemm_pack.h"
#include "runtime/products/pack/gemm_turn.h"

namespace mtf {
namespace {

constexpr std::int64_t kLanesAtOnce = 8;

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

// Eight lanes, each with `words` pairs side by side in memory, not always at addresses of words.
void turn_lanes(const std::array<const BFloat16*, kLanesAtOnce>& lanes, std::int64_t words,
                std::int64_t width, float* out) {
  std::array<const float*, kLanesAtOnce> rows;
  for (std::size_t j = 0; j < rows.size(); ++j) {
    rows[j] = reinterpret_cast<const float*>(lanes[j]);
  }
  std::int64_t k = 0;
  for (; k + kTurned <= words; k += kTurned) {
    Turn<float>::Reg turned[kTurned];
    Turn<float>::turn(rows.data(), k, turned);
    for (std::int64_t i = 0; i < kTurned; ++i) {
      Turn<float>::store(out + (k + i) * width, with_first_above(turned[i]));
    }
  }
  for (; k < words; ++k) {
    for (std::size_t j = 0; j < lanes.size(); ++j) {
      store_word(out + k * width + static_cast<std::int64_t>(j), lanes[j][2 * k].bits,
                 lanes[j][2 * k + 1].bits);
    }
  }
}

// What all words of a leaf share.
struct Pairs {
  const BFloat16* x;
  const Offsets& lanes;
  const Offsets& inner;
  const PackRange& range;
  std::uint16_t end;
};

// One word of each lane; `last`: it has but one index.
void pack_word(const Pairs& pairs, std::int64_t index, bool last, float* out) {
  const BFloat16* const first = pairs.x + pairs.inner.at(index);
  const BFloat16* const second = last ? nullptr : pairs.x + pairs.inner.at(index + 1);
  const std::int64_t lanes = pairs.range.lanes;
  if (pairs.lanes.run(pairs.range.first_lane) >= lanes) {
    const std::int64_t lane = pairs.lanes.at(pairs.range.first_lane);
    return interleave(first + lane, last ? nullptr : second + lane, pairs.end, lanes, out);
  }
  for (std::int64_t j = 0; j < lanes; ++j) {
    const std::int64_t lane = pairs.lanes.at(pairs.range.first_lane + j);
    store_word(out + j, first[lane].bits, last ? pairs.end : second[lane].bits);
  }
}

// `words` words whose indices lie side by side.
void pack_run(const Pairs& pairs, std::int64_t index, std::int64_t words, float* out) {
  const BFloat16* const x = pairs.x + pairs.inner.at(index);
  const std::int64_t first = pairs.range.first_lane;
  std::int64_t j = 0;
  for (; j + kLanesAtOnce <= pairs.range.lanes; j += kLanesAtOnce) {
    std::array<const BFloat16*, kLanesAtOnce> lanes;
    for (std::int64_t i = 0; i < kLanesAtOnce; ++i) {
      lanes[static_cast<std::size_t>(i)] = x + pairs.lanes.at(first + j + i);
    }
    turn_lanes(lanes, words, pairs.range.width, out + j);
  }
  for (; j < pairs.range.lanes; ++j) {
    const BFloat16* const lane = x + pairs.lanes.at(first + j);
    for (std::int64_t k = 0; k < words; ++k) {
      store_word(out + k * pairs.range.width + j, lane[2 * k].bits, lane[2 * k + 1].bits);
    }
  }
}

// Words `begin` to `end` of the leaf whose indices begin at `index`.
void pack_leaf(const Pairs& pairs, std::int64_t index, std::int64_t leaf_length, Interval words,
               float* out) {
  const std::int64_t width = pairs.range.width;
  const bool by_lanes = pairs.lanes.run(pairs.range.first_lane) >= pairs.range.lanes;
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
  const Pairs pairs = {.x = x,
                       .lanes = lanes,
                       .inner = inner,
                       .range = range,
                       .end = static_cast<std::uint16_t>(end)};
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
