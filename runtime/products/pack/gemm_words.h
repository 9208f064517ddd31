// Words of two bf16, as the micro-kernel for AVX512_BF16 reads them: the first index above. With 0
// below it is what others read: that index, widened.

#pragma once

#include <cstdint>

#include "ir/dtype.h"

namespace mtf {

// Makes a word of each two elements of x, of which there is an even number.
void turn_to_words(BFloat16* x, std::int64_t size);

// For each element of x the word of it and of the one `step` behind it, or of 0 where there is
// none.
void make_words(const BFloat16* x, std::int64_t size, std::int64_t step, BFloat16* words);

}  // namespace mtf
