// Whether the instruction of AVX512_BF16 is worth using: it does two multiply-adds, in half the
// time of two on some processors (Zen 4 and 5), in twice their time on others (Sapphire Rapids).

#pragma once

namespace mtf {

// Measured, in some fifty microseconds. requires: the processor has AVX512_BF16.
[[nodiscard]] bool pairs_are_faster();

}  // namespace mtf
