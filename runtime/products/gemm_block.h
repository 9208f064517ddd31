// One block of a product: rows whose part of a fits the cache, all their columns, the whole chain.

#pragma once

#include <algorithm>
#include <cstdint>

#include "ir/support/interval.h"
#include "runtime/products/gemm_plan.h"
#include "runtime/products/micro/gemm_kernel.h"

namespace mtf {

// Part `i` of `n` parts whose sizes differ by at most one.
[[nodiscard]] constexpr Interval part_of(Interval range, std::int64_t i, std::int64_t n) {
  const std::int64_t least = range.extent / n;
  const std::int64_t longer = range.extent % n;
  const std::int64_t begin = range.begin + i * least + std::min(i, longer);
  return {.begin = begin, .extent = least + (i < longer ? 1 : 0)};
}

// What all blocks share.
template <typename T>
struct GemmWork {
  const GemmPlan& plan;
  const Offsets* out_row = nullptr;  // in the result, or in a band of it
  const Chain& chain;                // as blocks go through it
  const Chain& thin_chain;           // as operands are stored
  const GemmKernel<T>& kernel;
  bool a_in_place = false;  // not packed
  bool a_gathered = false;  // nor in even steps: four rows at a time, by the plan's table
  std::int64_t line = 0;    // rows that a tile is in one of, if rows are gathered in lines
  bool b_in_place = false;  // where a tile's columns lie side by side
  bool far_result = false;  // in no near cache
  std::int64_t group = 1;   // column tiles that are packed together
  bool one_group = false;   // all columns of a block: then rows are packed tile by tile
  T* packed_a = nullptr;    // one panel of all rows of a block, or of one tile
  T* packed_b = nullptr;    // one panel of the columns of a group
  T* carried = nullptr;     // partial tiles of a block, from one panel to the next
  T* local = nullptr;       // partial tiles inside a panel
  // Where the result goes to an epilogue, each row of a block once, in bands:
  const GemmEpilogue<T>* epilogue = nullptr;
  int thread = 0;
  T* band = nullptr;            // of so many row tiles
  std::int64_t band_tiles = 0;  // of rows

  [[nodiscard]] bool reads_rows() const { return a_in_place || a_gathered; }
  // Rows that are never divided between threads or blocks.
  [[nodiscard]] std::int64_t row_unit() const { return line > 0 ? line : kernel.rows; }
  [[nodiscard]] std::int64_t width() const { return kernel.lanes * kGemmVectors; }
  [[nodiscard]] std::int64_t tile_size() const { return kernel.rows * width(); }
};

// Operands are stored as S, and widened where they are packed.
template <typename T, typename S = T>
struct GemmBlock {
  Interval rows;
  Interval cols;
  const S* a = nullptr;
  const S* b = nullptr;
  T* out = nullptr;
};

void run_block(const GemmWork<float>& work, const GemmBlock<float>& block);
void run_block(const GemmWork<double>& work, const GemmBlock<double>& block);
void run_block(const GemmWork<float>& work, const GemmBlock<float, BFloat16>& block);

}  // namespace mtf
