// Tiles of results: where each lies, and what of x it is made of.

#pragma once

#include <array>
#include <cstdint>

#include "ir/support/index.h"
#include "ir/support/interval.h"
#include "runtime/products/offsets.h"
#include "runtime/products/winograd/tile_lines.h"
#include "runtime/products/winograd/transforms.h"
#include "runtime/products/winograd/winograd.h"

namespace mtf {

// Of a convolution of elements that are stored as S. Those along the second side follow one
// another.
template <typename S>
class WinogradTiles {
 public:
  // By its place in both sides and its row.
  struct Place {
    struct Side {
      std::int64_t reads = 0;  // the first index of x
      std::int64_t makes = 0;  // the first of its results, perhaps before those that there are
    };

    std::int64_t row = 0;
    std::array<Side, 2> sides;
  };

  explicit WinogradTiles(const Winograd& product)
      : sides_(product.sides),
        row_a_(offsets_of(product.rows, &GemmDim::a)),
        row_out_(offsets_of(product.rows, &GemmDim::out)),
        of_sides_({tiles_of(sides_[0]), tiles_of(sides_[1])}) {}

  [[nodiscard]] std::int64_t size() const { return row_a_.size * of_sides_[0] * of_sides_[1]; }

  // From this one on, along the second side.
  [[nodiscard]] std::int64_t left_in_line(std::int64_t tile) const {
    return of_sides_[1] - tile % of_sides_[1];
  }

  [[nodiscard]] Place place_of(std::int64_t tile) const {
    const std::int64_t in_row = tile / of_sides_[1];
    return {.row = in_row / of_sides_[0],
            .sides = {at_side(sides_[0], in_row % of_sides_[0]),
                      at_side(sides_[1], tile % of_sides_[1])}};
  }

  // Of a tile's row of x, whose first element `a` is; its channels are not said yet.
  [[nodiscard]] TileSource<S> source_of(const Place& place, const S* a) const {
    return {.from = a + row_a_.at(place.row),
            .extent = {sides_[0].extent, sides_[1].extent},
            .steps = {sides_[0].a, sides_[1].a}};
  }

  // Those that are this rank's of `count` results in a row, by their places among them.
  [[nodiscard]] Interval results_of(const Place& place, std::int64_t count) const {
    return intersection({.begin = 0, .extent = count},
                        {.begin = -place.sides[1].makes, .extent = sides_[1].count});
  }
  [[nodiscard]] bool has_results(const Place& place, int i) const {
    const std::int64_t row = place.sides[0].makes + i;
    return row >= 0 && row < sides_[0].count;
  }
  [[nodiscard]] std::int64_t result_at(const Place& place, int i, std::int64_t j) const {
    return row_out_.at(place.row) + (place.sides[0].makes + i) * sides_[0].out +
           (place.sides[1].makes + j) * sides_[1].out;
  }

 private:
  static constexpr std::int64_t kSide = WinogradTile<S>::kSide;

  static std::int64_t tiles_of(const WinogradSide& side) {
    return ceil_div(side.first % kSide + side.count, kSide);
  }
  static typename Place::Side at_side(const WinogradSide& side, std::int64_t i) {
    const std::int64_t makes = kSide * i - side.first % kSide;
    return {.reads = side.reads + makes, .makes = makes};
  }

  std::array<WinogradSide, 2> sides_;
  Offsets row_a_;
  Offsets row_out_;
  std::array<std::int64_t, 2> of_sides_;
};

}  // namespace mtf
