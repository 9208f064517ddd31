// A panel of one operand's tiles, packed for micro-kernels.

#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "ir/support/interval.h"
#include "runtime/products/gemm_block.h"
#include "runtime/products/pack/gemm_pack.h"

namespace mtf {

template <typename S>
struct PackedSide {
  const S* x = nullptr;
  const Offsets& lanes;
  const Offsets& inner;
  std::int64_t width = 0;  // of a tile
  PairEnd end = PairEnd::kOfRows;
};

template <typename T, typename S>
void pack_tile(const GemmWork<T>& work, const PackedSide<S>& side, const PackRange& range, T* out) {
  if constexpr (std::is_same_v<S, BFloat16>) {
    if (work.kernel.together > 1) {
      return pack_pairs(side.x, side.lanes, side.inner, range, work.plan.leaf_length, side.end,
                        out);
    }
  }
  pack(side.x, side.lanes, side.inner, range, out);
}

// How many tiles, from the first one on, are packed together, as they are whole and lie side by
// side; they are packed then.
template <typename T, typename S, typename LanesOf>
std::int64_t pack_together(const PackedSide<S>& side, const ChainPanel& panel, std::int64_t count,
                           const LanesOf& lanes_of, T* out) {
  if constexpr (std::is_same_v<T, S>) {
    const std::int64_t first = lanes_of(0).begin;
    const std::int64_t most = std::min(count, side.lanes.run(first) / side.width);
    std::int64_t whole = 0;
    while (whole < most && lanes_of(whole).extent == side.width) {
      ++whole;
    }
    const PackTiles tiles = {
        .count = whole, .width = side.width, .first_inner = panel.begin, .inner = panel.length};
    return pack_tiles(side.x + side.lanes.at(first), side.inner, tiles, out) ? whole : 0;
  }
  return 0;
}

// Packs a panel of `count` tiles, one behind the other. `lanes_of(i)`: of tile i; none where they
// are read in place. Where lanes lie side by side, a few inner indices of all tiles at a time, so
// that these have their turns while the memory that they share is near.
template <typename T, typename S, typename LanesOf>
void pack_side(const GemmWork<T>& work, const PackedSide<S>& side, const ChainPanel& panel,
               std::int64_t count, const LanesOf& lanes_of, T* out) {
  constexpr std::int64_t kFew = 32;
  const std::int64_t together = pack_together(side, panel, count, lanes_of, out);
  const std::int64_t step = side.lanes.run(lanes_of(0).begin) > 1 ? kFew : panel.length;
  for (std::int64_t k = 0; together < count && k < panel.length; k += step) {
    for (std::int64_t i = together; i < count; ++i) {
      const Interval lanes = lanes_of(i);
      if (lanes.extent > 0) {
        pack_tile(work, side,
                  {.first_lane = lanes.begin,
                   .lanes = lanes.extent,
                   .first_inner = panel.begin + k,
                   .inner = std::min(step, panel.length - k),
                   .width = side.width},
                  out + (i * panel.length + k) * side.width);
      }
    }
  }
}

}  // namespace mtf
