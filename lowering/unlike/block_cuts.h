// How a block of a dim gets shorter as the places of a rank along its axes become known, one by
// one, in whatever order.
//
// Each axis of the block's list cuts what the one before it left. Where an axis is known before
// those in front of it in the list, what it leaves is kept for each length that they may leave, of
// which there are few; and a run of neighbours in the list is known by what it leaves in all.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/layout/mesh.h"

namespace mtf {

// What the place along one axis does to the lengths that are kept.
struct BlockCut {
  std::size_t step = 0;                 // in the order of axes
  std::int64_t width = 0;               // of the parts that it cuts
  std::size_t first = 0;                // the lengths that are cut are kept from here on,
  std::size_t count = 1;                // so many
  bool last = false;                    // then the only one is the block's
  std::size_t behind = 0;               // what the axes behind it leave of each of
  std::vector<std::int64_t> left = {};  // these, in order; none: they are not known yet

  // Of what is left of the block before it, what the part at a place is.
  [[nodiscard]] std::int64_t cut(std::int64_t length, std::int64_t place,
                                 const std::vector<std::int64_t>& kept) const;
};

struct BlockCuts {
  std::vector<std::int64_t> kept;  // before any place is known
  std::vector<BlockCut> cuts;      // in order of their steps
};

// `order`: all axes of the list and others; `first`: where the lengths are kept.
[[nodiscard]] BlockCuts cuts_of(const Mesh& mesh, std::int64_t size, const Axes& list,
                                const Axes& order, std::size_t first);

}  // namespace mtf
