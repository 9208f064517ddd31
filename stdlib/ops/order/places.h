// Places of the largest elements along a dim, also of one that ranks have parts of: each proposes
// its own, and all choose among what was proposed.
//
// A proposal is a word of key and place, or two of them; those of a line lie together, the largest
// element first, and words of ones stand where a part has no more.

#pragma once

#include <cstdint>
#include <string_view>

#include "ir/kernel.h"

namespace mtf {

// Of one proposal.
[[nodiscard]] std::int64_t words_of(DType dtype);

// `to` of i32 has the places, `taken` counts them; this rank has some of these.
void top_places(const TensorView& x, std::string_view over, const TensorView& to,
                std::string_view taken);
// `to`: the digest of a part of x.
void propose_places(const TensorView& x, std::string_view over, const TensorView& to);
// `words`: of a proposal.
void choose_places(const TensorView& digests, std::int64_t words, const TensorView& to,
                   std::string_view taken);

}  // namespace mtf
