// A tile in registers of type `V`: to and from memory, and one index of its chains.
//
// Included only by gemm_kernel_impl.h.

#pragma once

#include <algorithm>
#include <array>
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

// Stores between multiply-adds. On a Zen 5 a store of a whole register takes the turn of a
// multiply-add, which reads its third operand on the same way; stores of its two halves seldom do.
template <typename V>
void put_away(typename V::Value* x, typename V::Reg y) {
  if constexpr (requires { V::store_halves(x, y); }) {
    V::store_halves(x, y);
  } else {
    V::store(x, y);
  }
}

// What becomes of what a tile's registers hold when the next chain begins: tiles are added to it in
// turn, and the sum goes where the last of them lies; without merges, to the only one.
template <typename T, int kMerges>
struct Before {
  std::array<T*, std::max(kMerges, 1)> tiles;
};

// The same in one row. Row by row between the first multiply-adds of the next chain, additions and
// stores wait for units that these do not take. Eight or more stores one behind the other would
// hold up the next multiply-adds: on a Zen 3 for as long as 40 of them take.
template <typename V, int kRows, int kVectors, int kMerges>
[[gnu::always_inline]] inline void begin_row(const Before<typename V::Value, kMerges>& before,
                                             int row, Registers<V, kRows, kVectors>& acc) {
#pragma GCC unroll 2
  for (int j = 0; j < kVectors; ++j) {
    const std::int64_t at = row * kPlaceStride<V> + j * V::kLanes;
    if constexpr (kMerges > 0) {
      acc[row][j] = V::add(V::load(before.tiles[0] + at), acc[row][j]);
    }
    if constexpr (kMerges > 1) {
      acc[row][j] = V::add(V::load(before.tiles[1] + at), acc[row][j]);
    }
    put_away<V>(before.tiles.back() + at, acc[row][j]);
    acc[row][j] = V::zero();
  }
  asm volatile("" ::: "memory");  // the compiler would put the stores together
}

// Nothing: the chain goes on.
struct InChain {};

template <typename V, int kRows, int kVectors>
[[gnu::always_inline]] inline void begin_row(const InChain&, int, Registers<V, kRows, kVectors>&) {}

// One index of a chain, for all elements of a tile: the first one behind what was `before`, or
// another.
template <typename V, int kRows, int kVectors, typename Rows, typename Step, typename When>
[[gnu::always_inline]] inline void add_index(const Rows& a, const Step& a_row,
                                             const typename V::Value* b,
                                             Registers<V, kRows, kVectors>& acc,
                                             const When& before) {
  typename V::Reg col[kVectors];
#pragma GCC unroll 2
  for (int j = 0; j < kVectors; ++j) {
    col[j] = V::load(b + j * V::kLanes);
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    begin_row<V, kRows, kVectors>(before, i, acc);
    const typename V::Reg row = V::broadcast(a.row(i, a_row));
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      acc[i][j] = V::fma(row, col[j], acc[i][j]);
    }
  }
}

}  // namespace mtf
