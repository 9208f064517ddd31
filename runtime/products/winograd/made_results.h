// What a group of tiles has made of a panel of columns, on its way to where it is wanted.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "ir/support/index.h"
#include "ir/support/interval.h"
#include "runtime/products/offsets.h"
#include "runtime/products/pack/prefetch.h"
#include "runtime/products/winograd/tiles.h"
#include "runtime/products/winograd/transforms.h"
#include "runtime/products/winograd/turned.h"

namespace mtf {

// Tiles lie in strips, in which each result has those of all tiles, `width` columns each.
template <typename S>
struct MadeResults {
  const WinogradTiles<S>& tiles;
  const Offsets& cols;  // of all columns, in the tensor
  Interval group;
  std::int64_t strip = 1;     // tiles
  std::int64_t width = 1;     // columns
  bool are_in_lines = false;  // side by side along the second side
  const float* from = nullptr;

  void write(Interval panel, float* out) const {
    if (cols.run(panel.begin) < panel.extent && are_in_lines) {
      return write_lines(panel, out);
    }
    const bool are_adjacent = cols.run(panel.begin) >= panel.extent;
    Place next = tiles.place_of(group.begin);
    for (std::int64_t t = 0; t < group.extent; ++t) {
      const Place place = next;
      if (t + 1 < group.extent) {
        next = tiles.place_of(group.begin + t + 1);
        if (are_adjacent) {
          ask_for(next, panel, out);
        }
      }
      const OfTile made = of_tile(t);
      each_result(place, [&](int i, std::int64_t j) {
        write_cols(made.at(i * kSide + j), panel, out + tiles.result_at(place, i, j));
      });
    }
  }

 private:
  using Place = typename WinogradTiles<S>::Place;
  static constexpr std::int64_t kSide = WinogradTile<S>::kSide;

  // A tile's results.
  struct OfTile {
    const float* first = nullptr;
    std::int64_t step = 0;

    [[nodiscard]] const float* at(std::int64_t result) const { return first + result * step; }
  };

  // Of a tile of the group.
  [[nodiscard]] OfTile of_tile(std::int64_t tile) const {
    const std::int64_t before = tile / strip * strip;
    return {.first = from + (before * kSide * kSide + tile - before) * width,
            .step = std::min(strip, group.extent - before) * width};
  }

  // Those of a tile that are this rank's.
  template <typename F>
  void each_result(const Place& place, const F& f) const {
    const Interval there = tiles.results_of(place, kSide);
    for (int i = 0; i < kSide; ++i) {
      if (!tiles.has_results(place, i)) {
        continue;
      }
      for (std::int64_t j = there.begin; j < there.end(); ++j) {
        f(i, j);
      }
    }
  }

  // For the memory of a tile's results: without it each line that is written was waited for.
  void ask_for(const Place& place, Interval panel, const float* out) const {
    each_result(place, [&](int i, std::int64_t j) {
      prefetch(out + tiles.result_at(place, i, j) + cols.at(panel.begin),
               panel.extent * static_cast<std::int64_t>(sizeof(float)));
    });
  }

  // Where columns lie apart.
  void write_lines(Interval panel, float* out) const {
    for (std::int64_t t = 0; t < group.extent;) {
      const std::int64_t left = tiles.left_in_line(group.begin + t);
      const Interval line = {.begin = t,
                             .extent = std::min({kLongestLine, left, group.extent - t})};
      const Place place = tiles.place_of(group.begin + t);
      for (int i = 0; i < kSide; ++i) {
        if (tiles.has_results(place, i)) {
          write_line(place, i, line, panel, out);
        }
      }
      t = line.end();
    }
  }

  // A row of results of tiles in a line.
  void write_line(const Place& place, int i, Interval line, Interval panel, float* out) const {
    std::array<const float*, kLongestLine * kSide> made;  // NOLINT: filled where it is read
    const Interval there = tiles.results_of(place, kSide * line.extent);
    for (std::int64_t j = there.begin; j < there.end(); ++j) {
      made[at(j)] = of_tile(line.begin + j / kSide).at(i * kSide + j % kSide);
    }
    TurnedResults{.places = std::span(made).subspan(at(there.begin), at(there.extent)),
                  .count = panel.extent,
                  .first = panel.begin,
                  .cols = cols}
        .to(out + tiles.result_at(place, i, there.begin));
  }

  void write_cols(const float* made, Interval panel, float* to) const {
    if (cols.run(panel.begin) >= panel.extent) {
      std::copy_n(made, panel.extent, to + cols.at(panel.begin));
      return;
    }
    for (std::int64_t j = 0; j < panel.extent; ++j) {
      to[cols.at(panel.begin + j)] = made[j];
    }
  }
};

}  // namespace mtf
