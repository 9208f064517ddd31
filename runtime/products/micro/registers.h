// A tile in registers of type `V`: to and from memory, and one index of its chains.
//
// Included only by gemm_kernel_impl.h.

#pragma once

#include <cstdint>

#include "runtime/products/micro/gemm_kernel.h"

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

// The compiler moves no arithmetic on these past here.
template <typename V, int kRows, int kVectors>
void hold(Registers<V, kRows, kVectors>& acc) {
  if constexpr (V::kFlushes) {
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
      for (int j = 0; j < kVectors; ++j) {
        V::hold(acc[i][j]);
      }
    }
  }
}

// One index of a chain, for all elements of a tile. kStarts: the first one of a new chain, for
// which what the registers hold goes to `tile`, row by row. Eight or more stores one behind the
// other would hold up the next multiply-adds: on a Zen 3 for as long as 40 of them take.
template <typename V, int kRows, int kVectors, bool kStarts, typename Rows, typename Step>
[[gnu::always_inline]] inline void add_index(const Rows& a, const Step& a_row,
                                             const typename V::Value* b,
                                             Registers<V, kRows, kVectors>& acc,
                                             [[maybe_unused]] typename V::Value* tile = nullptr) {
  typename V::Reg col[kVectors];
#pragma GCC unroll 2
  for (int j = 0; j < kVectors; ++j) {
    col[j] = V::load(b + j * V::kLanes);
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    if constexpr (kStarts) {
#pragma GCC unroll 2
      for (int j = 0; j < kVectors; ++j) {
        V::store(tile + i * kPlaceStride<V> + j * V::kLanes, acc[i][j]);
        acc[i][j] = V::zero();
      }
      asm volatile("" ::: "memory");  // the compiler would put the stores together
    }
    const typename V::Reg row = V::broadcast(a.row(i, a_row));
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      acc[i][j] = V::fma(row, col[j], acc[i][j]);
    }
  }
}

}  // namespace mtf
