// What becomes of a tile that is computed apart from where the result lies.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>

#include "ir/support/interval.h"
#include "runtime/products/gemm_block.h"

namespace mtf {

struct Tile {
  Interval rows;
  Interval cols;
  std::int64_t index = 0;  // in its block
};

template <typename T, typename Col>
void add_row(const T* from, std::int64_t cols, T* row, bool adjacent, const Col& col) {
  if (adjacent) {
    std::transform(from, from + cols, row + col(0), row + col(0), std::plus<>());
    return;
  }
  for (std::int64_t j = 0; j < cols; ++j) {
    row[col(j)] += from[j];
  }
}

// How far apart the first two results of a tile lie along a side.
inline std::int64_t distance_in(const Offsets& side, Interval lanes) {
  const std::int64_t second = lanes.begin + std::min<std::int64_t>(lanes.extent - 1, 1);
  return std::abs(side.at(second) - side.at(lanes.begin));
}

// Copies a tile out whose columns do not lie side by side: along the side where results are nearer
// to one another, so that a line of memory is written at once.
template <typename T>
void scatter_tile(const GemmPlan& plan, const Tile& tile, const T* values, std::int64_t width,
                  T* out) {
  const auto scatter = [out](const Offsets& outer, Interval lines, const Offsets& inner,
                             Interval lanes, const auto& value) {
    for (std::int64_t i = 0; i < lines.extent; ++i) {
      T* const line = out + outer.at(lines.begin + i);
      for (std::int64_t j = 0; j < lanes.extent; ++j) {
        line[inner.at(lanes.begin + j)] = value(i, j);
      }
    }
  };
  if (distance_in(plan.out_row, tile.rows) < distance_in(plan.out_col, tile.cols)) {
    scatter(plan.out_col, tile.cols, plan.out_row, tile.rows,
            [=](std::int64_t col, std::int64_t row) { return values[row * width + col]; });
  } else {
    scatter(plan.out_row, tile.rows, plan.out_col, tile.cols,
            [=](std::int64_t row, std::int64_t col) { return values[row * width + col]; });
  }
}

// Copies a tile out, or adds it to what is there, element by element.
template <typename T, typename S>
void write_tile(const GemmWork<T>& work, const GemmBlock<T, S>& block, const Tile& tile,
                const T* values) {
  const auto col = [&work, &tile](std::int64_t j) {
    return work.plan.out_col.at(tile.cols.begin + j);
  };
  const std::int64_t cols = tile.cols.extent;
  const bool adjacent = work.plan.out_col.run(tile.cols.begin) >= cols;
  if (!adjacent && !work.plan.accumulate) {
    return scatter_tile(work.plan, tile, values, work.width(), block.out);
  }
  for (std::int64_t i = 0; i < tile.rows.extent; ++i) {
    T* row = block.out + work.out_row->at(tile.rows.begin + i);
    const T* from = values + i * work.width();
    if (work.plan.accumulate) {
      add_row(from, cols, row, adjacent, col);
    } else {
      std::copy_n(from, cols, row + col(0));
    }
  }
}

// Asks for what a tile is to be added to, which comes while the tile is in work.
template <typename T, typename S>
void prefetch_tile(const GemmWork<T>& work, const GemmBlock<T, S>& block, const Tile& tile) {
  constexpr std::int64_t kInLine = 64 / sizeof(T);
  for (std::int64_t i = 0; i < tile.rows.extent; ++i) {
    const std::int64_t row = work.out_row->at(tile.rows.begin + i);
    for (std::int64_t j = 0; j < tile.cols.extent; j += kInLine) {
      __builtin_prefetch(block.out + row + work.plan.out_col.at(tile.cols.begin + j), 1);
    }
  }
}

}  // namespace mtf
