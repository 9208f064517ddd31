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

// Between the rows of a tile on the stack. A constant, because registers for addresses are few: the
// compiler would keep some in vector registers, behind the multiply-adds.
template <typename V>
inline constexpr std::int64_t kPlaceStride = kGemmVectors* V::kLanes;

template <typename V, int kRows, int kVectors>
void load(const typename V::Value* tile, Registers<V, kRows, kVectors>& acc) {
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      acc[i][j] = tile == nullptr ? V::zero() : V::load(tile + i * kPlaceStride<V> + j * V::kLanes);
    }
  }
}

template <typename V, int kRows, int kVectors>
void add_left(const typename V::Value* tile, Registers<V, kRows, kVectors>& acc) {
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      acc[i][j] = V::add(V::load(tile + i * kPlaceStride<V> + j * V::kLanes), acc[i][j]);
    }
  }
}

template <typename V, int kRows, int kVectors>
void add_right(const Registers<V, kRows, kVectors>& right, Registers<V, kRows, kVectors>& acc) {
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      acc[i][j] = V::add(acc[i][j], right[i][j]);
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

// Lines that will be written, asked for before the chain that they would wait for at its end.
template <typename V, int kRows, int kVectors>
void prefetch_rows(const typename V::Value* tile, std::int64_t stride) {
  constexpr int kLine = 64 / sizeof(typename V::Value);
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kVectors * V::kLanes; j += kLine) {
      __builtin_prefetch(tile + i * stride + j, 1);
    }
  }
}

// One index of a chain, for all elements of a tile.
template <typename V, int kRows, int kVectors>
void add_index(const typename V::Value* a, std::int64_t a_row, const typename V::Value* b,
               Registers<V, kRows, kVectors>& acc) {
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
}

// kHidden: the compiler does not see where the pointer comes from. Where rows are far apart it
// would replace one pointer by one for each row, for which there are no registers.
template <bool kHidden, typename T>
const T* advanced(const T* pointer, std::int64_t by) {
  pointer += by;
  if constexpr (kHidden) {
    asm("" : "+r"(pointer));
  }
  return pointer;
}

// kPackedRows > 0: rows of a side by side, that many elements per index. A part is one leaf, or two
// side by side whose sum needs no memory.
template <typename V, int kPackedRows, int kLeaves, int kRows, int kVectors>
void run_tile(const TileRun<typename V::Value>& run) {
  Registers<V, kRows, kVectors> acc[kLeaves];
  const std::int64_t a_row = kPackedRows > 0 ? 1 : run.a_row;
  const std::int64_t a_inner = kPackedRows > 0 ? kPackedRows : run.a_inner;
  if (run.prefetches) {
    prefetch_rows<V, kRows, kVectors>(run.result, run.result_stride);
  }
  for (std::int64_t p = 0; p < run.count; ++p) {
    // Barriers make the compiler read `run` again. It would keep its fields in vector registers, to
    // be had only when earlier multiply-adds are done, and the next leaf could not start before.
    asm volatile("" ::: "memory");
    const ChainPart& part = run.parts[p];
    const std::int64_t b_inner = run.b_inner;
    const typename V::Value* a[kLeaves];
    const typename V::Value* b[kLeaves];
    a[0] = run.a + part.begin * a_inner;
    b[0] = run.b + part.begin * b_inner;
    if constexpr (kLeaves == 2) {
      a[1] = a[0] + part.length * a_inner;
      b[1] = b[0] + part.length * b_inner;
      load<V, kRows, kVectors>(nullptr, acc[0]);
      load<V, kRows, kVectors>(nullptr, acc[1]);
    } else {
      load<V, kRows, kVectors>(part.resumes ? run.places[part.depth] : nullptr, acc[0]);
    }
#pragma GCC unroll 4
    for (std::int64_t k = 0; k < part.length; ++k) {
#pragma GCC unroll 2
      for (int l = 0; l < kLeaves; ++l) {
        add_index<V, kRows, kVectors>(a[l], a_row, b[l], acc[l]);
        a[l] = advanced<kPackedRows == 0>(a[l], a_inner);
        b[l] = advanced<kPackedRows == 0>(b[l], b_inner);
      }
    }
    if constexpr (kLeaves == 2) {
      add_right<V, kRows, kVectors>(acc[1], acc[0]);
    }
    asm volatile("" ::: "memory");
    const int merges = run.parts[p].merges;
    typename V::Value* const* const place = run.places + run.parts[p].depth;
    for (int m = 1; m <= merges; ++m) {
      add_left<V, kRows, kVectors>(place[-m], acc[0]);
    }
    if (p + 1 == run.count && run.result != nullptr) {
      store<V, kRows, kVectors>(acc[0], run.result, run.result_stride);
      return;
    }
    store<V, kRows, kVectors>(acc[0], place[-merges], kPlaceStride<V>);
  }
}

template <typename V, int kPackedRows, int kLeaves, int kVectors, int... kIndex>
constexpr typename GemmKernel<typename V::Value>::ByRows tiles_by_rows(
    std::integer_sequence<int, kIndex...>) {
  return {run_tile<V, kPackedRows, kLeaves, kIndex + 1, kVectors>...};
}

// Tiles of kRows / kLeaves rows, so that the leaves fill the same registers.
template <typename V, int kRows, int kLeaves>
constexpr typename GemmKernel<typename V::Value>::Tiles make_tiles() {
  const auto rows = std::make_integer_sequence<int, kRows / kLeaves>();
  return {
      .rows = kRows / kLeaves,
      .packed = {tiles_by_rows<V, kRows, kLeaves, 1>(rows),
                 tiles_by_rows<V, kRows, kLeaves, 2>(rows)},
      .strided = {tiles_by_rows<V, 0, kLeaves, 1>(rows), tiles_by_rows<V, 0, kLeaves, 2>(rows)}};
}

template <typename V, int kRows>
constexpr GemmKernel<typename V::Value> make_gemm_kernel() {
  return {.rows = kRows,
          .lanes = V::kLanes,
          .tiles = {make_tiles<V, kRows, 1>(), make_tiles<V, kRows, 2>()}};
}

}  // namespace mtf
