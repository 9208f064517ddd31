// Rows of b in turn, a page of columns at a time, onto one row of sums: memory sees long runs.
// Where the long runs are columns, a few of them at a time, turned in registers. The chain of each
// element is the canonical one, so nothing shows in the bits.

#include "runtime/products/thin/gemm_thin.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "runtime/products/micro/flushing.h"
#include "runtime/products/pack/gemm_turn.h"

namespace mtf {
namespace {

constexpr std::int64_t kColumns = 1024;    // of a piece
constexpr std::size_t kTogether = 8;       // rows of b per visit to the sums
constexpr std::int64_t kShortRow = 8;      // columns side by side; fewer are not worth it
constexpr std::int64_t kLongColumns = 16;  // of a piece
constexpr std::int64_t kLine = 16;         // indices of a column before the next column

template <typename S>
using RowsOfB = std::array<const S*, kTogether>;

template <typename T, typename S>
void add_rows(const std::array<T, kTogether>& a, const RowsOfB<S>& b, std::int64_t cols,
              T* __restrict sums) {
  for (std::int64_t j = 0; j < cols; ++j) {
    T sum = sums[j];
    for (std::size_t k = 0; k < kTogether; ++k) {
      sum = std::fma(a[k], static_cast<T>(b[k][j]), sum);
    }
    sums[j] = sum;
  }
}

template <typename T, typename S>
void add_row(T a, const S* b, std::int64_t cols, T* __restrict sums) {
  for (std::int64_t j = 0; j < cols; ++j) {
    sums[j] = std::fma(a, static_cast<T>(b[j]), sums[j]);
  }
}

template <typename T>
void add_sums(const T* __restrict right, std::int64_t cols, T* __restrict left) {
  for (std::int64_t j = 0; j < cols; ++j) {
    left[j] += right[j];
  }
}

// A piece of the columns of a block: all rows, the whole chain.
template <typename T, typename S>
struct Piece {
  const GemmPlan& plan;
  const GemmBlock<T, S>& block;
  Interval cols;
  T* places;  // of the stack; each has kThinRows rows of kColumns
};

template <typename T, typename S>
void add_by_rows(const Piece<T, S>& piece, std::int64_t begin, std::int64_t length, T* sums) {
  const GemmPlan& plan = piece.plan;
  const S* b = piece.block.b + plan.b_col.at(piece.cols.begin);
  std::int64_t k = begin;
  for (; k + static_cast<std::int64_t>(kTogether) <= begin + length; k += kTogether) {
    RowsOfB<S> rows_of_b;
    for (std::size_t i = 0; i < kTogether; ++i) {
      rows_of_b[i] = b + plan.b_inner.at(k + static_cast<std::int64_t>(i));
    }
    for (std::int64_t r = piece.block.rows.begin; r < piece.block.rows.end(); ++r) {
      const S* a = piece.block.a + plan.a_row.at(r);
      std::array<T, kTogether> values;
      for (std::size_t i = 0; i < kTogether; ++i) {
        values[i] = static_cast<T>(a[plan.a_inner.at(k + static_cast<std::int64_t>(i))]);
      }
      add_rows(values, rows_of_b, piece.cols.extent,
               sums + (r - piece.block.rows.begin) * kColumns);
    }
  }
  for (; k < begin + length; ++k) {
    for (std::int64_t r = piece.block.rows.begin; r < piece.block.rows.end(); ++r) {
      add_row(static_cast<T>(piece.block.a[plan.a_row.at(r) + plan.a_inner.at(k)]),
              b + plan.b_inner.at(k), piece.cols.extent,
              sums + (r - piece.block.rows.begin) * kColumns);
    }
  }
}

bool has_long_columns(const GemmPlan& plan) {
  return plan.a_inner.even && plan.b_inner.even && plan.b_inner.step == 1;
}

// kLongColumns columns of b, the same one again where a piece has no more.
template <typename T>
using Columns = std::array<const T*, static_cast<std::size_t>(kLongColumns)>;

template <typename T, typename S>
Columns<T> columns_of(const Piece<T, S>& piece, std::int64_t inner) {
  Columns<T> columns;
  for (std::int64_t j = 0; j < kLongColumns; ++j) {
    columns[static_cast<std::size_t>(j)] =
        piece.block.b + inner +
        piece.plan.b_col.at(piece.cols.begin + std::min(j, piece.cols.extent - 1));
  }
  return columns;
}

// One row of a, some indices of which are `step` apart.
template <typename T>
void add_columns(const T* a, std::int64_t step, const Columns<T>& columns, std::int64_t length,
                 T* sums) {
  using Lanes = Turn<T>;
  constexpr std::int64_t kGroups = kLongColumns / Lanes::kLanes;
  typename Lanes::Reg acc[kGroups];
#pragma GCC unroll 8
  for (std::int64_t g = 0; g < kGroups; ++g) {
    acc[g] = Lanes::load(sums + g * Lanes::kLanes);
  }
  std::int64_t k = 0;
  for (std::int64_t end = 0; k + kTurned <= length; k = end) {
    end = std::min(k + kLine, length / kTurned * kTurned);
#pragma GCC unroll 8
    for (std::int64_t g = 0; g < kGroups; ++g) {
      for (std::int64_t i = k; i < end; i += kTurned) {
        typename Lanes::Reg b[kTurned];
        Lanes::turn(columns.data() + g * Lanes::kLanes, i, b);
#pragma GCC unroll 4
        for (std::int64_t j = 0; j < kTurned; ++j) {
          acc[g] = Lanes::fma(Lanes::broadcast(a + (i + j) * step), b[j], acc[g]);
        }
      }
    }
  }
#pragma GCC unroll 8
  for (std::int64_t g = 0; g < kGroups; ++g) {
    Lanes::store(sums + g * Lanes::kLanes, acc[g]);
  }
  for (; k < length; ++k) {
    for (std::int64_t j = 0; j < kLongColumns; ++j) {
      sums[j] = std::fma(a[k * step], columns[static_cast<std::size_t>(j)][k], sums[j]);
    }
  }
}

template <typename T, typename S>
void add_by_columns(const Piece<T, S>& piece, std::int64_t begin, std::int64_t length, T* sums) {
  const GemmPlan& plan = piece.plan;
  const Columns<T> columns = columns_of(piece, begin);
  for (std::int64_t r = piece.block.rows.begin; r < piece.block.rows.end(); ++r) {
    add_columns(piece.block.a + plan.a_row.at(r) + begin * plan.a_inner.step, plan.a_inner.step,
                columns, length, sums + (r - piece.block.rows.begin) * kColumns);
  }
}

template <typename T, typename S>
void write_piece(const Piece<T, S>& piece) {
  const GemmPlan& plan = piece.plan;
  for (std::int64_t r = piece.block.rows.begin; r < piece.block.rows.end(); ++r) {
    T* row = piece.block.out + plan.out_row.at(r);
    const T* from = piece.places + (r - piece.block.rows.begin) * kColumns;
    const std::int64_t first = piece.cols.begin;
    if (!plan.accumulate && plan.out_col.run(first) >= piece.cols.extent) {
      std::copy_n(from, piece.cols.extent, row + plan.out_col.at(first));
      continue;
    }
    for (std::int64_t j = 0; j < piece.cols.extent; ++j) {
      T& to = row[plan.out_col.at(first + j)];
      to = plan.accumulate ? to + from[j] : from[j];
    }
  }
}

template <typename T, typename S>
T* place_of(const Piece<T, S>& piece, int depth) {
  return piece.places + depth * kThinRows * kColumns;
}

template <typename T, typename S>
void add_leaf(const Piece<T, S>& piece, std::int64_t begin, std::int64_t length, T* sums) {
  if constexpr (std::is_same_v<T, S>) {
    if (has_long_columns(piece.plan)) {
      return add_by_columns(piece, begin, length, sums);
    }
  }
  const Flushing<!std::is_same_v<T, S>> flushing;
  add_by_rows(piece, begin, length, sums);
}

template <typename T, typename S>
void run_part(const Piece<T, S>& piece, const Chain& chain, const ChainPanel& panel,
              const ChainPart& part) {
  const std::int64_t rows = piece.block.rows.extent;
  int depth = part.depth;
  for (int leaf = 0; leaf < chain.leaves; ++leaf, ++depth) {
    T* sums = place_of(piece, depth);
    for (std::int64_t r = 0; r < rows && !part.resumes; ++r) {
      std::fill_n(sums + r * kColumns, std::max(piece.cols.extent, kLongColumns), T(0));
    }
    const std::int64_t begin = panel.begin + part.begin + leaf * part.length;
    add_leaf(piece, begin, part.length, sums);
    for (int m = merges_behind(chain, part, leaf); m > 0; --m, --depth) {
      for (std::int64_t r = 0; r < rows; ++r) {
        add_sums(place_of(piece, depth) + r * kColumns, piece.cols.extent,
                 place_of(piece, depth - 1) + r * kColumns);
      }
    }
  }
}

template <typename T, typename S>
void run(const GemmPlan& plan, const Chain& chain, const GemmBlock<T, S>& block, T* scratch) {
  const bool by_columns = std::is_same_v<T, S> && has_long_columns(plan);
  for (std::int64_t j = block.cols.begin, width = 0; j < block.cols.end(); j += width) {
    width = by_columns ? kLongColumns : std::min(kColumns, plan.b_col.run(j));
    const Piece<T, S> piece = {.plan = plan,
                               .block = block,
                               .cols = from_to(j, std::min(j + width, block.cols.end())),
                               .places = scratch};
    for (const ChainPanel& panel : chain.panels) {
      for (std::size_t p = panel.first_part; p < panel.last_part; ++p) {
        run_part(piece, chain, panel, chain.parts[p]);
      }
    }
    write_piece(piece);
  }
}

}  // namespace

bool has_long_rows(const GemmPlan& plan, Interval cols) {
  return plan.b_col.run(cols.begin) >= std::min(cols.extent, kShortRow);
}

bool is_thin(const GemmPlan& plan, Interval rows, Interval cols) {
  return rows.extent <= kThinRows && plan.inner() > 0 &&
         (has_long_rows(plan, cols) || has_long_columns(plan));
}

std::int64_t thin_scratch(const Chain& chain) {
  return (chain.max_depth + chain.leaves) * kThinRows * kColumns;
}

void run_thin(const GemmPlan& plan, const Chain& chain, const GemmBlock<float>& block,
              float* scratch) {
  run(plan, chain, block, scratch);
}

void run_thin(const GemmPlan& plan, const Chain& chain, const GemmBlock<double>& block,
              double* scratch) {
  run(plan, chain, block, scratch);
}

void run_thin(const GemmPlan& plan, const Chain& chain, const GemmBlock<float, BFloat16>& block,
              float* scratch) {
  run(plan, chain, block, scratch);
}

}  // namespace mtf
