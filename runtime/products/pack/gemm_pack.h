// Packing of an operand: `width` lanes (rows or columns) side by side for each inner index, so that
// a micro-kernel reads it in one stream.

#pragma once

#include <cstdint>

#include "runtime/products/gemm_plan.h"

namespace mtf {

struct PackRange {
  std::int64_t first_lane = 0;
  std::int64_t lanes = 0;  // at most `width`; the rest is filled with zeros
  std::int64_t first_inner = 0;
  std::int64_t inner = 0;
  std::int64_t width = 0;
};

void pack(const float* x, const Offsets& lanes, const Offsets& inner, const PackRange& range,
          float* out);
void pack(const double* x, const Offsets& lanes, const Offsets& inner, const PackRange& range,
          double* out);
void pack(const BFloat16* x, const Offsets& lanes, const Offsets& inner, const PackRange& range,
          float* out);

// Whole tiles, whose lanes all lie side by side in memory.
struct PackTiles {
  std::int64_t count = 0;
  std::int64_t width = 0;  // lanes of each
  std::int64_t first_inner = 0;
  std::int64_t inner = 0;
};

// One tile behind the other, the first lane of the first at `x`; whether tiles of such a width are
// packed together.
[[nodiscard]] bool pack_tiles(const float* x, const Offsets& inner, const PackTiles& tiles,
                              float* out);
[[nodiscard]] bool pack_tiles(const double* x, const Offsets& inner, const PackTiles& tiles,
                              double* out);

// What stands in the lower half of a word where a leaf of odd length has nothing. Added, the
// product of the two leaves any sum as it is: -0, too.
enum class PairEnd : std::uint16_t { kOfRows = 0x8000, kOfCols = 0 };

// Pairs of inner indices as words of two bf16, the first above. `range.first_inner` and
// `range.inner` count words, of which each leaf of `leaf_length` indices has its own.
void pack_pairs(const BFloat16* x, const Offsets& lanes, const Offsets& inner,
                const PackRange& range, std::int64_t leaf_length, PairEnd end, float* out);

}  // namespace mtf
