// The loops inside a block: panels of the chain outermost, so that rows are packed once; then tiles
// by columns, each packed just before its first use, while it is in the nearest cache.

#include "runtime/gemm_block.h"

#include <array>

#include "runtime/gemm_pack.h"

namespace mtf {
namespace {

constexpr int kMaxDepth = 96;  // of the stack: a tree over 2^63 leaves needs 64

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

struct Tile {
  Range rows;
  Range cols;
  std::int64_t index = 0;  // in its block
};

// One operand's share of a panel, as a micro-kernel wants it.
template <typename T>
struct Operand {
  const T* at = nullptr;
  std::int64_t lane = 0;   // between rows
  std::int64_t inner = 0;  // between inner indices
};

// Copies a tile out, or adds it to what is there, element by element.
template <typename T>
void write_tile(const GemmWork<T>& work, const GemmBlock<T>& block, const Tile& tile,
                const T* values) {
  const auto col = [&work, &tile](std::int64_t j) {
    return work.plan.out_col.at(tile.cols.begin + j);
  };
  const std::int64_t cols = tile.cols.size();
  const bool adjacent = work.plan.out_col.run(tile.cols.begin) >= cols;
  for (std::int64_t i = 0; i < tile.rows.size(); ++i) {
    T* row = block.out + work.plan.out_row.at(tile.rows.begin + i);
    const T* from = values + i * work.width();
    if (work.plan.accumulate) {
      for (std::int64_t j = 0; j < cols; ++j) {
        row[col(j)] += from[j];
      }
    } else if (adjacent) {
      std::copy_n(from, cols, row + col(0));
    } else {
      for (std::int64_t j = 0; j < cols; ++j) {
        row[col(j)] = from[j];
      }
    }
  }
}

// Whether a micro-kernel may write this tile of `out` by itself.
template <typename T>
bool writes_directly(const GemmWork<T>& work, const Tile& tile) {
  return !work.plan.accumulate && work.plan.out_row.even && tile.cols.size() == work.width() &&
         work.plan.out_col.run(tile.cols.begin) >= work.width();
}

template <typename T>
void run_tile(const GemmWork<T>& work, const GemmBlock<T>& block, const ChainPanel& panel,
              const Tile& tile, const Operand<T>& a, const Operand<T>& b) {
  const std::int64_t tiles =
      ceil_div(block.rows.size(), work.kernel.rows) * ceil_div(block.cols.size(), work.width());
  std::array<T*, kMaxDepth> places;
  for (int d = 0; d < work.chain.max_depth; ++d) {
    places[at(d)] = d < work.chain.carried_depth
                        ? work.carried + (d * tiles + tile.index) * work.tile_size()
                        : work.local + d * work.tile_size();
  }
  const bool last = panel.last_part == work.chain.parts.size();
  const bool direct = last && writes_directly(work, tile);
  const auto& kernels = work.a_in_place ? work.kernel.strided : work.kernel.packed;
  const auto& by_rows = kernels[at(ceil_div(tile.cols.size(), work.kernel.lanes) - 1)];
  by_rows[at(tile.rows.size() - 1)](
      {.parts = work.chain.parts.data() + panel.first_part,
       .count = static_cast<std::int64_t>(panel.last_part - panel.first_part),
       .a = a.at,
       .a_row = a.lane,
       .a_inner = a.inner,
       .b = b.at,
       .b_inner = b.inner,
       .places = places.data(),
       .place_stride = work.width(),
       .result = direct ? block.out + work.plan.out_row.at(tile.rows.begin) +
                              work.plan.out_col.at(tile.cols.begin)
                        : nullptr,
       .result_stride = work.plan.out_row.step});
  if (last && !direct) {
    write_tile(work, block, tile, places[0]);
  }
}

template <typename T>
void pack_rows(const GemmWork<T>& work, const GemmBlock<T>& block, const ChainPanel& panel) {
  const std::int64_t tiles = ceil_div(block.rows.size(), work.kernel.rows);
  for (std::int64_t i = 0; i < tiles; ++i) {
    const Range rows = part_of(block.rows, i, tiles);
    pack(block.a, work.plan.a_row, work.plan.a_inner,
         {.first_lane = rows.begin,
          .lanes = rows.size(),
          .first_inner = panel.begin,
          .inner = panel.length,
          .width = work.kernel.rows},
         work.packed_a + i * panel.length * work.kernel.rows);
  }
}

template <typename T>
Operand<T> row_operand(const GemmWork<T>& work, const GemmBlock<T>& block, const ChainPanel& panel,
                       Range rows, std::int64_t i) {
  if (work.a_in_place) {
    return {.at = block.a + work.plan.a_row.at(rows.begin) +
                  (panel.length > 0 ? work.plan.a_inner.at(panel.begin) : 0),
            .lane = work.plan.a_row.step,
            .inner = work.plan.a_inner.step};
  }
  return {.at = work.packed_a + i * panel.length * work.kernel.rows,
          .lane = 1,
          .inner = work.kernel.rows};
}

template <typename T>
Operand<T> col_operand(const GemmWork<T>& work, const GemmBlock<T>& block, const ChainPanel& panel,
                       Range cols) {
  if (work.b_in_place && cols.size() == work.width() && panel.length > 0 &&
      work.plan.b_col.run(cols.begin) >= work.width()) {
    return {.at = block.b + work.plan.b_col.at(cols.begin) + work.plan.b_inner.at(panel.begin),
            .lane = 1,
            .inner = work.plan.b_inner.step};
  }
  pack(block.b, work.plan.b_col, work.plan.b_inner,
       {.first_lane = cols.begin,
        .lanes = cols.size(),
        .first_inner = panel.begin,
        .inner = panel.length,
        .width = work.width()},
       work.packed_b);
  return {.at = work.packed_b, .lane = 1, .inner = work.width()};
}

template <typename T>
void run(const GemmWork<T>& work, const GemmBlock<T>& block) {
  const std::int64_t row_tiles = ceil_div(block.rows.size(), work.kernel.rows);
  for (const ChainPanel& panel : work.chain.panels) {
    if (!work.a_in_place) {
      pack_rows(work, block, panel);
    }
    std::int64_t index = 0;
    for (std::int64_t j = block.cols.begin; j < block.cols.end; j += work.width()) {
      const Range cols = {.begin = j, .end = std::min(j + work.width(), block.cols.end)};
      const Operand<T> b = col_operand(work, block, panel, cols);
      for (std::int64_t i = 0; i < row_tiles; ++i) {
        const Range rows = part_of(block.rows, i, row_tiles);
        run_tile(work, block, panel, {.rows = rows, .cols = cols, .index = index++},
                 row_operand(work, block, panel, rows, i), b);
      }
    }
  }
}

}  // namespace

void run_block(const GemmWork<float>& work, const GemmBlock<float>& block) {
  run(work, block);
}

void run_block(const GemmWork<double>& work, const GemmBlock<double>& block) {
  run(work, block);
}

}  // namespace mtf
