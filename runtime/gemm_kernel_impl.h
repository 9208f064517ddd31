// The body of every micro-kernel, over a register type `V`.
//
// Included only by gemm_kernel_*.cpp, each with a `V` of internal linkage: code built for one
// instruction set must never be the copy that the linker keeps for another.

#pragma once

#include <utility>

#include "runtime/gemm_kernel.h"

namespace mtf {

template <typename V, int kRows, int kVectors>
using Registers = typename V::Reg[kRows][kVectors];

template <typename V, int kRows, int kVectors>
void load(const typename V::Value* tile, std::int64_t stride, Registers<V, kRows, kVectors>& acc) {
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      acc[i][j] = tile == nullptr ? V::zero() : V::load(tile + i * stride + j * V::kLanes);
    }
  }
}

template <typename V, int kRows, int kVectors>
void add_left(const typename V::Value* tile, std::int64_t stride,
              Registers<V, kRows, kVectors>& acc) {
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      acc[i][j] = V::add(V::load(tile + i * stride + j * V::kLanes), acc[i][j]);
    }
  }
}

template <typename V, int kRows, int kVectors>
void store(const Registers<V, kRows, kVectors>& acc, typename V::Value* tile, std::int64_t stride) {
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      V::store(tile + i * stride + j * V::kLanes, acc[i][j]);
    }
  }
}

// kPackedRows > 0: rows of a side by side, that many elements per index.
template <typename V, int kPackedRows, int kRows, int kVectors>
void run_tile(const TileRun<typename V::Value>& run) {
  Registers<V, kRows, kVectors> acc;
  const std::int64_t a_row = kPackedRows > 0 ? 1 : run.a_row;
  const std::int64_t a_inner = kPackedRows > 0 ? kPackedRows : run.a_inner;
  for (std::int64_t p = 0; p < run.count; ++p) {
    const ChainPart& part = run.parts[p];
    typename V::Value* const* place = run.places + part.depth;
    load<V, kRows, kVectors>(part.resumes ? *place : nullptr, run.place_stride, acc);
    const typename V::Value* a = run.a + part.begin * a_inner;
    const typename V::Value* b = run.b + part.begin * run.b_inner;
#pragma GCC unroll 4
    for (std::int64_t k = 0; k < part.length; ++k) {
      typename V::Reg col[kVectors];
#pragma GCC unroll 2
      for (int j = 0; j < kVectors; ++j) {
        col[j] = V::load(b + j * V::kLanes);
      }
#pragma GCC unroll 12
      for (int i = 0; i < kRows; ++i) {
        const typename V::Reg row = V::broadcast(a + i * a_row);
#pragma GCC unroll 2
        for (int j = 0; j < kVectors; ++j) {
          acc[i][j] = V::fma(row, col[j], acc[i][j]);
        }
      }
      a += a_inner;
      b += run.b_inner;
    }
    for (int m = 1; m <= part.merges; ++m) {
      add_left<V, kRows, kVectors>(place[-m], run.place_stride, acc);
    }
    if (p + 1 == run.count && run.result != nullptr) {
      store<V, kRows, kVectors>(acc, run.result, run.result_stride);
      return;
    }
    store<V, kRows, kVectors>(acc, place[-part.merges], run.place_stride);
  }
}

template <typename V, int kPackedRows, int kVectors, int... kIndex>
constexpr typename GemmKernel<typename V::Value>::ByRows tiles_by_rows(
    std::integer_sequence<int, kIndex...>) {
  return {run_tile<V, kPackedRows, kIndex + 1, kVectors>...};
}

template <typename V, int kRows>
constexpr GemmKernel<typename V::Value> make_gemm_kernel() {
  const auto rows = std::make_integer_sequence<int, kRows>();
  return {.rows = kRows,
          .lanes = V::kLanes,
          .packed = {tiles_by_rows<V, kRows, 1>(rows), tiles_by_rows<V, kRows, 2>(rows)},
          .strided = {tiles_by_rows<V, 0, 1>(rows), tiles_by_rows<V, 0, 2>(rows)}};
}

}  // namespace mtf
