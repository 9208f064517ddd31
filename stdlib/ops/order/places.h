// Places of the largest elements along a dim, also of one that ranks have parts of: each proposes
// its own, and all choose among what was proposed.
//
// A proposal is a word of key and place, or two of them; those of a line lie together, the largest
// element first, and words of ones stand where a part has no more.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ir/kernel.h"
#include "stdlib/ops/order/keys.h"

namespace mtf {

// Of one proposal.
[[nodiscard]] std::int64_t words_of(DType dtype);

inline constexpr unsigned kPlaceBits = 32;

// The first `count` of a line, and ones.
template <typename Key>
void write_words(const std::vector<Keyed<Key>>& line, std::size_t count,
                 std::span<std::uint64_t> words) {
  std::ranges::fill(words, ~std::uint64_t{0});
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (sizeof(Key) == 4) {
      words[i] = (std::uint64_t{line[i].key} << kPlaceBits) | line[i].at;
    } else {
      words[2 * i] = line[i].key;
      words[2 * i + 1] = line[i].at;
    }
  }
}

// `to` of i32 has the places, `taken` counts them; this rank has some of these.
void top_places(const TensorView& x, std::string_view over, const TensorView& to,
                std::string_view taken, const Cpu& cpu);
// `to`: the digest of a part of x.
void propose_places(const TensorView& x, std::string_view over, const TensorView& to,
                    const Cpu& cpu);
// `words`: of a proposal.
void choose_places(const TensorView& digests, std::int64_t words, const TensorView& to,
                   std::string_view taken);

}  // namespace mtf
