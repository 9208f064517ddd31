// The elements that tiles in a line are made of.

#pragma once

#include <array>
#include <cstdint>

#include "ir/support/index.h"
#include "ir/support/interval.h"
#include "runtime/products/winograd/turned.h"

namespace mtf {

// Numbers of channels at indices along two sides: 0 where there are none.
template <typename S>
struct TileSource {
  const S* from = nullptr;  // of the first channel at (0, 0)
  std::array<std::int64_t, 2> extent = {};
  std::array<std::int64_t, 2> steps = {};
  std::int64_t apart = 1;     // elements between channels
  std::int64_t channels = 0;  // of which zeros has as many
  const S* zeros = nullptr;
};

// Of so many tiles along the second side, that of a row of them.
[[nodiscard]] constexpr std::int64_t elements_in_line(int side, int reads, std::int64_t tiles) {
  return side * (tiles - 1) + reads;
}

// A line of tiles kSide elements from one another, of kReads elements each way.
template <typename S, int kSide, int kReads>
class TileLine {
 public:
  static constexpr std::size_t kElements = std::size_t{kReads} * kReads;

  // `first`: where the first tile begins. Where channels lie apart they are put side by side into
  // `turned`, which has room for kReads rows of the line.
  TileLine(const TileSource<S>& source, const std::array<std::int64_t, 2>& first,
           std::int64_t tiles, S* turned)
      : begin_(first[1]),
        step_(source.apart == 1 ? source.steps[1] : source.channels),
        cols_(intersection({.begin = begin_, .extent = elements_in_line(kSide, kReads, tiles)},
                           {.begin = 0, .extent = source.extent[1]})),
        zeros_(source.zeros) {
    const std::int64_t row_size = elements_in_line(kSide, kReads, tiles) * source.channels;
    for (int i = 0; i < kReads; ++i) {
      const std::int64_t row = first[0] + i;
      if (row >= 0 && row < source.extent[0] && !cols_.empty()) {
        const S* const from = source.from + row * source.steps[0];
        rows_[at(i)] = source.apart == 1 ? from : turn(source, from, turned + i * row_size);
      }
    }
  }

  // Pointers to the channels, side by side, of each element of a tile, row by row.
  [[nodiscard]] std::array<const S*, kElements> elements_of(std::int64_t tile) const {
    std::array<const S*, kElements> from;  // NOLINT: all of it follows
    const S** next = from.data();
    const std::int64_t begin = begin_ + kSide * tile;
    for (const S* const row : rows_) {
      for (std::int64_t col = begin; col < begin + kReads; ++col) {
        const bool is_there = row != nullptr && col >= cols_.begin && col < cols_.end();
        *next++ = is_there ? row + col * step_ : zeros_;
      }
    }
    return from;
  }

 private:
  // A row of elements, turned; of where the one at 0 would be.
  const S* turn(const TileSource<S>& source, const S* from, S* to) const {
    TurnedElements<S>{.from = from + cols_.begin * source.steps[1],
                      .apart = source.apart,
                      .along = source.steps[1],
                      .lanes = source.channels,
                      .count = cols_.extent}
        .to(to);
    return to - cols_.begin * step_;
  }

  std::int64_t begin_;
  std::int64_t step_;  // between elements of a row
  Interval cols_;      // that there are
  const S* zeros_;
  std::array<const S*, kReads> rows_ = {};  // null: all zeros
};

}  // namespace mtf
