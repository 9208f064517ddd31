// The loops inside a block: panels of the chain outermost, so that rows are packed once; then
// groups of column tiles, packed just before their use and staying in the second-level cache; then
// rows, whose tile stays in the nearest cache for all columns of a group.

#include "runtime/gemm_block.h"

#include <array>
#include <cstdlib>

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

// A tile as packed, in as many as the leaves of a part leave registers for.
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
  const auto& kernels = work.kernel.tiles[at(work.chain.leaves - 1)];
  const auto& by_rows =
      (work.a_in_place ? kernels.strided
                       : kernels.packed)[at(ceil_div(tile.cols.size(), work.kernel.lanes) - 1)];
  TileRun<T> run = {.parts = work.chain.parts.data() + panel.first_part,
                    .count = static_cast<std::int64_t>(panel.last_part - panel.first_part),
                    .a = a.at,
                    .a_row = a.lane,
                    .a_inner = a.inner,
                    .b = b.at,
                    .b_inner = b.inner,
                    .places = places.data(),
                    .result_stride = work.plan.out_row.step};
  for (std::int64_t i = 0; i < tile.rows.size(); i += kernels.rows) {
    if (direct) {
      run.result = block.out + work.plan.out_row.at(tile.rows.begin + i) +
                   work.plan.out_col.at(tile.cols.begin);
    }
    by_rows[at(std::min(kernels.rows, tile.rows.size() - i) - 1)](run);
    run.a += kernels.rows * a.lane;
    for (int d = 0; d < work.chain.max_depth; ++d) {
      places[at(d)] += kernels.rows * work.width();
    }
  }
  if (last && !direct) {
    write_tile(work, block, tile,
               places[0] - ceil_div(tile.rows.size(), kernels.rows) * kernels.rows * work.width());
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
bool reads_in_place(const GemmWork<T>& work, const ChainPanel& panel, Range cols) {
  return work.b_in_place && cols.size() == work.width() && panel.length > 0 &&
         work.plan.b_col.run(cols.begin) >= work.width();
}

template <typename T>
Range tile_cols(const GemmWork<T>& work, Range cols, std::int64_t begin) {
  return {.begin = begin, .end = std::min(begin + work.width(), cols.end)};
}

// Packs a panel of the columns of a group of tiles: where columns lie side by side, a few indices
// of all tiles in turn.
template <typename T>
void pack_cols(const GemmWork<T>& work, const GemmBlock<T>& block, const ChainPanel& panel,
               Range group) {
  constexpr std::int64_t kRows = 32;
  const std::int64_t step = work.plan.b_col.run(group.begin) > 1 ? kRows : panel.length;
  for (std::int64_t k = 0; k < panel.length; k += step) {
    T* packed = work.packed_b + k * work.width();
    for (std::int64_t j = group.begin; j < group.end; j += work.width()) {
      const Range cols = tile_cols(work, group, j);
      if (!reads_in_place(work, panel, cols)) {
        pack(block.b, work.plan.b_col, work.plan.b_inner,
             {.first_lane = cols.begin,
              .lanes = cols.size(),
              .first_inner = panel.begin + k,
              .inner = std::min(step, panel.length - k),
              .width = work.width()},
             packed);
      }
      packed += panel.length * work.width();
    }
  }
}

// Columns of tile `j` of a group: in place, or packed by pack_cols.
template <typename T>
Operand<T> col_operand(const GemmWork<T>& work, const GemmBlock<T>& block, const ChainPanel& panel,
                       Range cols, std::int64_t j) {
  if (reads_in_place(work, panel, cols)) {
    return {.at = block.b + work.plan.b_col.at(cols.begin) + work.plan.b_inner.at(panel.begin),
            .lane = 1,
            .inner = work.plan.b_inner.step};
  }
  return {.at = work.packed_b + j * panel.length * work.width(), .lane = 1, .inner = work.width()};
}

template <typename T>
void run_group(const GemmWork<T>& work, const GemmBlock<T>& block, const ChainPanel& panel,
               Range group) {
  const std::int64_t row_tiles = ceil_div(block.rows.size(), work.kernel.rows);
  const std::int64_t first = (group.begin - block.cols.begin) / work.width();
  for (std::int64_t i = 0; i < row_tiles; ++i) {
    const Range rows = part_of(block.rows, i, row_tiles);
    const Operand<T> a = row_operand(work, block, panel, rows, i);
    for (std::int64_t j = 0; j * work.width() < group.size(); ++j) {
      const Range cols = tile_cols(work, group, group.begin + j * work.width());
      run_tile(work, block, panel,
               {.rows = rows, .cols = cols, .index = (first + j) * row_tiles + i}, a,
               col_operand(work, block, panel, cols, j));
    }
  }
}

template <typename T>
void run(const GemmWork<T>& work, const GemmBlock<T>& block) {
  const bool used_once = block.rows.size() <= work.kernel.rows;  // then the nearest cache is enough
  const std::int64_t step = (used_once ? 1 : kGemmGroup) * work.width();
  for (const ChainPanel& panel : work.chain.panels) {
    if (!work.a_in_place) {
      pack_rows(work, block, panel);
    }
    for (std::int64_t j = block.cols.begin; j < block.cols.end; j += step) {
      const Range group = {.begin = j, .end = std::min(j + step, block.cols.end)};
      pack_cols(work, block, panel, group);
      run_group(work, block, panel, group);
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
