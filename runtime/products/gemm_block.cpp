// The loops inside a block: panels of the chain outermost, so that rows are packed once; then
// groups of column tiles, packed just before their use and staying in the second-level cache; then
// rows, whose tile stays in the nearest cache for all columns of a group.

#include "runtime/products/gemm_block.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <type_traits>

#include "ir/support/index.h"
#include "runtime/products/gemm_tile.h"
#include "runtime/products/pack/gemm_side.h"

namespace mtf {
namespace {

constexpr int kMaxFours = kGemmMaxRows / kGatheredRows;
constexpr int kMaxDepth = 96;  // of the stack: a tree over 2^63 leaves needs 64

// The rows of a block in tiles. Packed ones have the full height but for the last, which takes some
// rows from the one before if it would be so low that its few chains wait for one another; others
// have nearly equal heights, in each line if rows come in lines.
class RowTiles {
 public:
  struct Shape {
    std::int64_t height = 1;  // at most
    std::int64_t line = 0;    // rows of a line; 0: no lines
    bool packed = false;
  };

  RowTiles(Interval rows, const Shape& shape)
      : rows_(rows), line_(shape.line > 0 ? shape.line : rows.extent), height_(shape.height) {
    in_line_ = ceil_div(line_, height_);
    count_ = line_ > 0 ? rows.extent / line_ * in_line_ : 0;
    const std::int64_t last = line_ - (in_line_ - 1) * height_;
    if (shape.packed) {
      moved_ = in_line_ > 1 && last < height_ / 3 ? height_ / 3 : 0;
    } else if (count_ > 0) {
      height_ = line_ / in_line_;
      higher_ = line_ % in_line_;
    }
  }

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] Interval operator[](std::int64_t i) const {
    const std::int64_t line = rows_.begin + i / in_line_ * line_;
    const std::int64_t tile = i % in_line_;
    return from_to(line + begin(tile), line + (tile + 1 == in_line_ ? line_ : begin(tile + 1)));
  }

 private:
  // Of a tile in its line.
  [[nodiscard]] std::int64_t begin(std::int64_t i) const {
    return i * height_ + std::min(i, higher_) - (i + 1 == in_line_ ? moved_ : 0);
  }

  Interval rows_;
  std::int64_t line_;
  std::int64_t height_;
  std::int64_t in_line_ = 1;  // tiles
  std::int64_t count_ = 0;
  std::int64_t higher_ = 0;  // tiles of a line, by one row
  std::int64_t moved_ = 0;   // rows, to the last tile of a line
};

template <typename T>
using Places = std::array<T*, kMaxDepth>;

// What all tiles of a panel share.
template <typename T, typename S>
struct Pass {
  const GemmWork<T>& work;
  const GemmBlock<T, S>& block;
  const ChainPanel& panel;
  RowTiles row_tiles;
  std::int64_t tiles = 0;           // of the block
  Places<T> local;                  // of tiles that leave nothing there
  std::int64_t first_row_tile = 0;  // of those that are packed together
};

// One operand's share of a panel, as a micro-kernel wants it.
template <typename T>
struct Operand {
  const T* at = nullptr;
  std::int64_t lane = 0;                       // between rows
  std::int64_t inner = 0;                      // between inner indices
  std::array<const T*, kMaxFours> fours = {};  // of rows that are gathered
};

// Whether a micro-kernel may write this tile of `out` by itself.
template <typename T>
bool writes_directly(const GemmWork<T>& work, const Tile& tile) {
  const bool whole = tile.cols.extent == work.width() || tile.cols.extent == work.kernel.lanes;
  return !work.plan.accumulate && work.out_row->even && whole &&
         work.plan.out_col.run(tile.cols.begin) >= tile.cols.extent;
}

// Of tile `tile` of `tiles`.
template <typename T>
Places<T> places_of(const GemmWork<T>& work, std::int64_t tiles, std::int64_t tile) {
  Places<T> places;
  for (int d = 0; d < work.chain.max_depth; ++d) {
    places[at(d)] = d < work.chain.carried_depth
                        ? work.carried + (d * tiles + tile) * work.tile_size()
                        : work.local + d * work.tile_size();
  }
  return places;
}

// Calls the micro-kernels for a tile: as many as the leaves of a part leave registers for, each
// after `next` has made it ready.
template <typename T, typename S, typename Next>
void run_kernels(const Pass<T, S>& pass, const Tile& tile, TileRun<T>& run, const Next& next) {
  const GemmWork<T>& work = pass.work;
  const bool wide = tile.cols.extent > work.kernel.lanes;
  if (work.a_gathered) {
    next(0);
    const auto& by_rows =
        work.chain.leaves > 1 ? work.kernel.gathered_fours : work.kernel.gathered[wide];
    return by_rows[at(tile.rows.extent - 1)](run);
  }
  const auto& kernels = work.kernel.tiles[at(work.chain.leaves / 2)];
  const auto& by_rows = (run.a_row == 1 ? kernels.adjacent : kernels.apart)[wide];
  for (std::int64_t i = 0; i < tile.rows.extent; i += kernels.rows) {
    next(i);
    by_rows[at(std::min(kernels.rows, tile.rows.extent - i) - 1)](run);
    run.a += kernels.rows * run.a_row;
  }
}

template <typename T, typename S>
void run_tile(const Pass<T, S>& pass, const Tile& tile, const Operand<T>& a, const Operand<T>& b) {
  const GemmWork<T>& work = pass.work;
  const bool last = pass.panel.last_part == work.chain.parts.size();
  const bool direct = last && writes_directly(work, tile);
  TileRun<T> run = {.parts = work.chain.parts.data() + pass.panel.first_part,
                    .count = static_cast<std::int64_t>(pass.panel.last_part) -
                             static_cast<std::int64_t>(pass.panel.first_part),
                    .a = a.at,
                    .a_row = a.lane,
                    .a_inner = a.inner,
                    .b = b.at,
                    .b_inner = b.inner,
                    .places = pass.local.data(),
                    .result_stride = work.out_row->step,
                    .prefetches = direct && work.far_result,
                    .fours = a.fours.data(),
                    .inner = work.a_gathered ? work.plan.a_inner.table.data() +
                                                   pass.panel.begin * work.kernel.together
                                             : nullptr};
  T* const result =
      pass.block.out +
      (direct ? work.out_row->at(tile.rows.begin) + work.plan.out_col.at(tile.cols.begin) : 0);
  if (direct && work.chain.carried_depth == 0) {
    run_kernels(pass, tile, run,
                [&](std::int64_t row) { run.result = result + row * run.result_stride; });
    return;
  }
  if (last && work.plan.accumulate && work.far_result) {
    prefetch_tile(work, pass.block, tile);
  }
  const Places<T> places = places_of(work, pass.tiles, tile.index);
  Places<T> moved;
  run.places = moved.data();
  run_kernels(pass, tile, run, [&](std::int64_t row) {
    for (int d = 0; d < work.chain.max_depth; ++d) {
      moved[at(d)] = places[at(d)] + row * work.width();
    }
    run.result = direct ? result + row * run.result_stride : nullptr;
  });
  if (last && !direct) {
    write_tile(work, pass.block, tile, places[0]);
  }
}

// Where tile `i` of the rows is when it is packed: rows are packed all together, or each tile just
// before its use.
template <typename T, typename S>
T* packed_rows(const Pass<T, S>& pass, std::int64_t i) {
  const GemmWork<T>& work = pass.work;
  return work.packed_a +
         (work.one_group ? 0 : i - pass.first_row_tile) * pass.panel.length * work.kernel.rows;
}

// Packs a panel of the rows of some tiles.
template <typename T, typename S>
void pack_rows(const Pass<T, S>& pass, Interval tiles) {
  const GemmWork<T>& work = pass.work;
  pack_side(
      work,
      PackedSide<S>{.x = pass.block.a,
                    .lanes = work.plan.a_row,
                    .inner = work.plan.a_inner,
                    .width = work.kernel.rows,
                    .end = PairEnd::kOfRows},
      pass.panel, tiles.extent,
      [&pass, tiles](std::int64_t i) { return pass.row_tiles[tiles.begin + i]; },
      packed_rows(pass, tiles.begin));
}

template <typename T, typename S>
Operand<T> gathered_rows(const GemmWork<T>& work, const S* a, Interval rows) {
  Operand<T> result = {.lane = work.plan.line_step};
  for (std::int64_t i = 0; i < rows.extent; i += kGatheredRows) {
    result.fours[at(i / kGatheredRows)] =
        reinterpret_cast<const T*>(a + work.plan.a_row.at(rows.begin + i));
  }
  return result;
}

template <typename T, typename S>
Operand<T> row_operand(const Pass<T, S>& pass, std::int64_t i) {
  const GemmWork<T>& work = pass.work;
  const ChainPanel& panel = pass.panel;
  if (work.a_gathered) {
    return gathered_rows(work, pass.block.a, pass.row_tiles[i]);
  }
  if constexpr (std::is_same_v<T, S>) {
    if (work.a_in_place) {
      return {.at = pass.block.a + work.plan.a_row.at(pass.row_tiles[i].begin) +
                    (panel.length > 0 ? work.plan.a_inner.at(panel.begin) : 0),
              .lane = work.plan.a_row.step,
              .inner = work.plan.a_inner.step};
    }
  }
  return {.at = packed_rows(pass, i), .lane = 1, .inner = work.kernel.rows};
}

template <typename T, typename S>
bool reads_in_place(const Pass<T, S>& pass, Interval cols) {
  const GemmWork<T>& work = pass.work;
  return work.b_in_place && cols.extent == work.width() && pass.panel.length > 0 &&
         work.plan.b_col.run(cols.begin) >= work.width();
}

template <typename T>
Interval tile_cols(const GemmWork<T>& work, Interval cols, std::int64_t begin) {
  return from_to(begin, std::min(begin + work.width(), cols.end()));
}

// Packs a panel of the columns of a group of tiles, but for those that are read in place.
template <typename T, typename S>
void pack_cols(const Pass<T, S>& pass, Interval group) {
  const GemmWork<T>& work = pass.work;
  pack_side(
      work,
      PackedSide<S>{.x = pass.block.b,
                    .lanes = work.plan.b_col,
                    .inner = work.plan.b_inner,
                    .width = work.width(),
                    .end = PairEnd::kOfCols},
      pass.panel, ceil_div(group.extent, work.width()),
      [&pass, &work, group](std::int64_t i) {
        const Interval cols = tile_cols(work, group, group.begin + i * work.width());
        return reads_in_place(pass, cols) ? from_to(cols.begin, cols.begin) : cols;
      },
      work.packed_b);
}

// Columns of tile `j` of a group: in place, or packed by pack_cols.
template <typename T, typename S>
Operand<T> col_operand(const Pass<T, S>& pass, Interval cols, std::int64_t j) {
  const GemmWork<T>& work = pass.work;
  if constexpr (std::is_same_v<T, S>) {
    if (reads_in_place(pass, cols)) {
      return {.at = pass.block.b + work.plan.b_col.at(cols.begin) +
                    work.plan.b_inner.at(pass.panel.begin),
              .lane = 1,
              .inner = work.plan.b_inner.step};
    }
  }
  return {
      .at = work.packed_b + j * pass.panel.length * work.width(), .lane = 1, .inner = work.width()};
}

// The part of a group in some row tiles. `first`: of the group's column tiles in the block.
template <typename T, typename S>
void run_group(const Pass<T, S>& pass, Interval tiles, Interval group, std::int64_t first) {
  const GemmWork<T>& work = pass.work;
  for (std::int64_t i = tiles.begin; i < tiles.end(); ++i) {
    const Interval rows = pass.row_tiles[i];
    if (!work.reads_rows() && work.one_group) {
      pack_rows(pass, {.begin = i, .extent = 1});
    }
    const Operand<T> a = row_operand(pass, i);
    for (std::int64_t j = 0; j * work.width() < group.extent; ++j) {
      const Interval cols = tile_cols(work, group, group.begin + j * work.width());
      const std::int64_t index = (first + j) * pass.row_tiles.count() + i;
      const std::int64_t packed = work.epilogue == nullptr ? j : first + j;
      run_tile(pass, {.rows = rows, .cols = cols, .index = index}, a,
               col_operand(pass, cols, packed));
    }
  }
}

// A group of columns in all row tiles of a band after the other, so that columns stay near for as
// long; then the band is handed over.
template <typename T, typename S>
void run_band(const Pass<T, S>& pass, Interval tiles, Interval rows) {
  const GemmWork<T>& work = pass.work;
  if (!work.reads_rows()) {
    pack_rows(pass, tiles);
  }
  const Interval cols = pass.block.cols;
  const std::int64_t width = work.group * work.width();
  for (std::int64_t j = 0; j < cols.extent; j += width) {
    const Interval group = from_to(cols.begin + j, std::min(cols.begin + j + width, cols.end()));
    run_group(pass, tiles, group, j / work.width());
  }
  const std::int64_t row = work.plan.cols();
  if (cols.extent == row) {
    const Interval elements = {.begin = rows.begin * row, .extent = rows.extent * row};
    return (*work.epilogue)(work.thread, elements, work.band);
  }
  for (std::int64_t i = 0; i < rows.extent; ++i) {
    const Interval elements = {.begin = (rows.begin + i) * row + cols.begin, .extent = cols.extent};
    (*work.epilogue)(work.thread, elements, work.band + i * cols.extent);
  }
}

// Columns are packed once, for all bands.
template <typename T, typename S>
void run_bands(const GemmWork<T>& work, const GemmBlock<T, S>& block, const RowTiles& row_tiles,
               std::int64_t tiles) {
  GemmBlock<T, S> band = block;
  Pass<T, S> pass = {.work = work,
                     .block = band,
                     .panel = work.chain.panels.front(),
                     .row_tiles = row_tiles,
                     .tiles = tiles,
                     .local = places_of(work, 0, 0)};
  pack_cols(pass, block.cols);
  for (std::int64_t i = 0; i < row_tiles.count(); i += work.band_tiles) {
    const Interval together = from_to(i, std::min(i + work.band_tiles, row_tiles.count()));
    const Interval rows = from_to(row_tiles[i].begin, row_tiles[together.end() - 1].end());
    pass.first_row_tile = i;
    band.out = work.band - work.out_row->at(rows.begin) - block.cols.begin;
    run_band(pass, together, rows);
  }
}

template <typename T, typename S>
void run(const GemmWork<T>& work, const GemmBlock<T, S>& block) {
  const RowTiles row_tiles(block.rows, {.height = work.kernel.rows,
                                        .line = work.line,
                                        .packed = !work.a_in_place && work.line == 0});
  const std::int64_t tiles = row_tiles.count() * ceil_div(block.cols.extent, work.width());
  if (work.epilogue != nullptr) {
    return run_bands(work, block, row_tiles, tiles);
  }
  // Columns that one row of tiles uses once need to stay in the nearest cache only.
  const std::int64_t together = row_tiles.count() > 1 ? work.group : 1;
  for (const ChainPanel& panel : work.chain.panels) {
    const Pass<T, S> pass = {.work = work,
                             .block = block,
                             .panel = panel,
                             .row_tiles = row_tiles,
                             .tiles = tiles,
                             .local = places_of(work, 0, 0)};
    if (!work.reads_rows() && !work.one_group) {
      pack_rows(pass, {.begin = 0, .extent = row_tiles.count()});
    }
    std::int64_t first = 0;
    for (std::int64_t j = block.cols.begin; j < block.cols.end(); j += together * work.width()) {
      const Interval group = from_to(j, std::min(j + together * work.width(), block.cols.end()));
      pack_cols(pass, group);
      run_group(pass, {.begin = 0, .extent = row_tiles.count()}, group, first);
      first += together;
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

void run_block(const GemmWork<float>& work, const GemmBlock<float, BFloat16>& block) {
  run(work, block);
}

}  // namespace mtf
