// How much of a product is done at a time, and what of it is packed.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <unistd.h>

#include "runtime/products/gemm_block.h"
#include "runtime/products/thin/gemm_thin.h"

namespace mtf {

// For cores with 48 KB of first-level and 1 MB or 2 MB of second-level cache (in_second_level).
inline constexpr std::int64_t kSecondLevel = 1 << 20;
inline constexpr std::int64_t kPanelBytes = 6144;     // of one lane in a panel
inline constexpr std::int64_t kThinPanelBytes = 512;  // the same where b is used but once
inline constexpr std::int64_t kBlockBytes = 4 << 20;  // of a panel of all rows of a block
inline constexpr std::int64_t kBlockCols = 2048;
// Of columns that are packed together, and of columns that are not packed: they stay in the
// second-level cache, from which they are read as fast as they are needed.
inline constexpr std::int64_t kGroupBytes = 1000 << 10;  // leaves half of that cache to rows
inline constexpr std::int64_t kInPlaceBytes = 640 << 10;
inline constexpr std::int64_t kInPlaceRow = 2048;  // bytes of a row: a tile of them stays near
inline constexpr std::int64_t kInPlaceTwice = 16 << 10;  // of columns that a tile reads twice
inline constexpr std::int64_t kRowsWorthPacking = 48;    // for such columns
// Of results that go to an epilogue: how many elements at least it is called for, how large columns
// that are packed for all bands may be, and how many row tiles are worth those that stay in no near
// cache.
inline constexpr std::int64_t kBandElements = 16 << 10;
inline constexpr std::int64_t kBandedBytes = 4 << 20;
inline constexpr std::int64_t kFarColsTiles = 4;
// Columns of a group, where not all fit: more of them, for which rows come anew less often, as long
// as they leave that cache room for rows.
inline constexpr std::int64_t kFewCols = 96;
inline constexpr std::int64_t kMoreCols = 128;
inline constexpr std::int64_t kMoreBytes = 640 << 10;
// Tiles of columns for which rows side by side are gathered, and of leaves that would take turns.
inline constexpr std::int64_t kGatheredTiles = 4;
inline constexpr std::int64_t kGatheredTurns = 2;
inline constexpr std::int64_t kShortestLine = 4;  // of rows that are gathered
inline constexpr std::int64_t kWordElements = 2;
inline constexpr std::int64_t kConflict = 4096;  // bytes; lines that far apart displace one another

// Of what is to stay in the second-level cache, if that is smaller (on a Zen 3: half as large), as
// much less: 1.2 times as fast for columns that were read in place and did not stay.
inline std::int64_t in_second_level(std::int64_t bytes) {
  static const std::int64_t cache = sysconf(_SC_LEVEL2_CACHE_SIZE);  // 0 or -1: not known
  return cache > 0 ? bytes * std::min(cache, kSecondLevel) / kSecondLevel : bytes;
}

// Whether lines that are `step` elements apart have places of their own in the nearest cache.
inline bool is_spread(std::int64_t step, std::int64_t element) {
  return step * element % kConflict != 0;
}

// Bytes from the first to the last element of an operand.
inline std::int64_t span_bytes(const Offsets& lanes, const Offsets& inner, std::int64_t element) {
  const auto reach = [](const Offsets& x) { return std::abs(x.step) * (x.size - 1); };
  return (reach(lanes) + reach(inner) + 1) * element;
}

// How much of a product that is not empty is done at a time.
struct Blocking {
  std::int64_t panel = 1;  // inner indices
  std::int64_t rows = 1;   // blocks
  std::int64_t cols = 1;
  std::int64_t row_tiles = 0;  // of a block
  std::int64_t col_tiles = 0;
};

template <typename T>
Blocking choose_blocking(const GemmWork<T>& work, std::int64_t rows, std::int64_t cols) {
  Blocking result;
  for (const ChainPanel& panel : work.chain.panels) {
    result.panel = std::max(result.panel, panel.length);
  }
  const std::int64_t row_bytes = result.panel * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t units = ceil_div(rows, work.row_unit());
  result.rows =
      std::min(units, ceil_div(rows, std::max(kBlockBytes / row_bytes, work.kernel.rows)));
  result.cols = ceil_div(cols, rows <= kThinRows ? work.width() : kBlockCols);
  if (work.epilogue != nullptr) {  // which takes whole rows
    result.rows = 1;
    result.cols = 1;
  }
  result.row_tiles = ceil_div(units, result.rows) * ceil_div(work.row_unit(), work.kernel.rows);
  result.col_tiles = ceil_div(ceil_div(cols, result.cols), work.width());
  return result;
}

// The lines that tiles of gathered rows must not cross; 0 where each four rows are in one.
template <typename T>
std::int64_t line_of_tiles(const GemmPlan& plan, const GemmKernel<T>& kernel) {
  const bool in_fours = plan.line % kGatheredRows == 0 && kernel.rows % kGatheredRows == 0;
  return in_fours || plan.line == plan.rows() ? 0 : plan.line;
}

// Whether rows of a are gathered, and not packed. Low tiles read columns more often, and rows that
// lie side by side are packed by copying, where each tile of columns would read lines anew of which
// it needs but a part: both are worth it for few columns, and fewer if short leaves that are packed
// would take turns (those of 8 words in 4 tiles: 1.45 times as fast packed). Words are packed by
// more than copying, which only turns are worth.
template <typename T>
bool gathers(const GemmPlan& plan, const GemmKernel<T>& kernel) {
  if (plan.line < kShortestLine || plan.leaf_length < kGatheredLeaf * kernel.together) {
    return false;
  }
  const std::int64_t line = line_of_tiles(plan, kernel);
  const bool is_low = 4 * line < 3 * kernel.rows * ceil_div(line, kernel.rows);
  const std::int64_t tiles = ceil_div(plan.cols(), kernel.lanes * kGemmVectors);
  const bool turns = leaves_together(plan, kernel.together) > 1;
  const bool side_by_side = plan.line_step == (plan.a_words && turns ? kWordElements : 1);
  return (!is_low || tiles == 1) &&
         (!side_by_side || tiles <= (turns ? kGatheredTurns : kGatheredTiles));
}

// What is used once or twice, or stays in a near cache as it is, is read where it is; so are long
// rows of a that no near cache would hold when they are packed. A tile has more rows than a cache
// has lines for one place (on a Zen 4: 8), so rows in conflict are packed: 1.07 times as fast.
template <typename T>
void choose_packing(GemmWork<T>& work, std::int64_t rows, std::int64_t cols) {
  const GemmPlan& plan = work.plan;
  const auto size = static_cast<std::int64_t>(sizeof(T));
  const bool apart = plan.a_inner.step == 1;
  const bool as_good = apart && is_spread(plan.a_row.step, size) &&
                       (!work.one_group || plan.inner() * size <= kInPlaceRow);
  work.a_in_place = plan.a_row.even && plan.a_inner.even && (apart || plan.a_row.step == 1) &&
                    (rows <= work.kernel.rows || cols <= 2 * work.width() || as_good);
  // Of leaves that share registers, half a tile's rows come after the other, and lines of columns
  // that are far apart displace one another between them: 1.05 to 1.4 times as fast.
  const bool twice = work.chain.leaves > 1 && rows > kRowsWorthPacking;
  const bool near = is_spread(plan.b_inner.step, size) &&
                    span_bytes(plan.b_col, plan.b_inner, size) <=
                        (twice ? kInPlaceTwice : in_second_level(kInPlaceBytes));
  work.b_in_place = plan.b_inner.even && (rows <= work.kernel.rows || near);
}

template <typename T>
void choose_groups(GemmWork<T>& work, const Blocking& blocking) {
  const std::int64_t lane = blocking.panel * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t bytes = blocking.col_tiles * work.width() * lane;
  const std::int64_t cols = kMoreCols * lane <= in_second_level(kMoreBytes) ? kMoreCols : kFewCols;
  work.one_group = bytes <= in_second_level(kGroupBytes);
  work.group = work.one_group ? blocking.col_tiles : cols / work.width();
  if (work.epilogue != nullptr) {
    const std::int64_t band = blocking.col_tiles * work.tile_size();
    const std::int64_t worth = work.one_group ? 1 : kFarColsTiles;
    work.band_tiles = std::min(std::max(ceil_div(kBandElements, band), worth), blocking.row_tiles);
    work.one_group = false;
  }
}

}  // namespace mtf
