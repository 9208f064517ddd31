// The body of every micro-kernel, over a register type `V`.
//
// Included only by gemm_kernel_*.cpp, each with a `V` of internal linkage: code built for one
// instruction set must never be the copy that the linker keeps for another.

#pragma once

#include <utility>

#include "runtime/products/micro/flushing.h"
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

// The compiler does not see where the pointer comes from. It would replace one pointer by one for
// each row, for which there are no registers.
template <typename T>
void hide(const T*& pointer) {
  asm("" : "+r"(pointer));
}

// The next elements of a tile's rows of a. Where rows are far apart, three share a pointer: an
// instruction adds a stride once or twice.
template <typename T, int kRows, bool kApart>
class RowsOfA {
 public:
  RowsOfA() = default;
  RowsOfA(const T* first, std::int64_t stride) {
#pragma GCC unroll 4
    for (int i = 0; i < kPointers; ++i) {
      at_[i] = first + i * kSharing * stride;
    }
  }

  [[nodiscard]] const T* row(int i, std::int64_t stride) const {
    return at_[i / kSharing] + i % kSharing * stride;
  }

  void advance(std::int64_t by) {
#pragma GCC unroll 4
    for (const T*& pointer : at_) {
      pointer += by;
      if constexpr (kApart) {
        hide(pointer);
      }
    }
  }

 private:
  static constexpr int kSharing = kApart ? 3 : kRows;
  static constexpr int kPointers = (kRows + kSharing - 1) / kSharing;
  const T* at_[kPointers];
};

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

// One index of a chain, for all elements of a tile.
template <typename V, int kRows, int kVectors, typename Rows, typename Step>
[[gnu::always_inline]] inline void add_index(const Rows& a, const Step& a_row,
                                             const typename V::Value* b,
                                             Registers<V, kRows, kVectors>& acc) {
  typename V::Reg col[kVectors];
#pragma GCC unroll 2
  for (int j = 0; j < kVectors; ++j) {
    col[j] = V::load(b + j * V::kLanes);
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    const typename V::Reg row = V::broadcast(a.row(i, a_row));
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      acc[i][j] = V::fma(row, col[j], acc[i][j]);
    }
  }
}

// A part's value, added to those that wait for it; whether it was the last one, whose place is the
// result.
template <typename V, int kRows, int kVectors>
[[gnu::always_inline]] inline bool finish_part(const TileRun<typename V::Value>& run,
                                               std::int64_t p, Registers<V, kRows, kVectors>& acc) {
  using Value = typename V::Value;
  const int merges = run.parts[p].merges;
  Value* const* const place = run.places + run.parts[p].depth;
  for (int m = 1; m <= merges; ++m) {
    add_left<V, kRows, kVectors>(place[-m], acc);
  }
  if (p + 1 == run.count && run.result != nullptr) {
    store<V, kRows, kVectors>(acc, run.result, run.result_stride);
    return true;
  }
  store<V, kRows, kVectors>(acc, place[-merges], kPlaceStride<V>);
  return false;
}

// Where the next index of a chain is, for all elements of a tile. kApart: rows of a are apart, and
// its inner indices side by side; else the other way round.
template <typename V, bool kApart, int kRows>
struct Cursor {
  using Value = typename V::Value;

  explicit Cursor(const TileRun<Value>& run)
      : a_row(kApart ? run.a_row : 1),
        a_inner(kApart ? 1 : run.a_inner),
        b_inner(run.b_inner),
        a(run.a, a_row),
        b(run.b) {}

  void advance(std::int64_t indices) {
    a.advance(indices * a_inner);
    b += indices * b_inner;
    if constexpr (kApart) {
      hide(b);
    }
  }

  std::int64_t a_row;
  std::int64_t a_inner;
  std::int64_t b_inner;
  RowsOfA<Value, kRows, kApart> a;
  const Value* b;
};

template <typename V, bool kApart, int kRows, int kVectors>
[[gnu::always_inline]] inline void add_next(Cursor<V, kApart, kRows>& next,
                                            Registers<V, kRows, kVectors>& acc) {
  add_index<V, kRows, kVectors>(next.a, next.a_row, next.b, acc);
  next.advance(1);
}

// The chain of one leaf.
template <typename V, bool kApart, int kRows, int kVectors>
[[gnu::always_inline]] inline void add_leaf(Cursor<V, kApart, kRows>& next, std::int64_t length,
                                            Registers<V, kRows, kVectors>& acc) {
  const Flushing<V::kFlushes> flushing;
#pragma GCC unroll 4
  for (std::int64_t k = 0; k < length; ++k) {
    add_next<V, kApart, kRows, kVectors>(next, acc);
  }
  hold<V, kRows, kVectors>(acc);
}

// The sum of two leaves side by side, whose chains take turns.
template <typename V, bool kApart, int kRows, int kVectors>
[[gnu::always_inline]] inline void sum_two(Cursor<V, kApart, kRows>& next, std::int64_t length,
                                           Registers<V, kRows, kVectors>& acc) {
  Cursor<V, kApart, kRows> second = next;
  second.advance(length);
  Registers<V, kRows, kVectors> right;
  load<V, kRows, kVectors>(nullptr, acc);
  load<V, kRows, kVectors>(nullptr, right);
  {
    const Flushing<V::kFlushes> flushing;
#pragma GCC unroll 4
    for (std::int64_t k = 0; k < length; ++k) {
      add_next<V, kApart, kRows, kVectors>(next, acc);
      add_next<V, kApart, kRows, kVectors>(second, right);
    }
    hold<V, kRows, kVectors>(acc);
    hold<V, kRows, kVectors>(right);
  }
  add_right<V, kRows, kVectors>(right, acc);
  next = second;
}

// The sum of a part that is one leaf, or two or four side by side. What is written out for four has
// no branches but those of its loops, which processors would guess wrong for short leaves, and
// waits in a place that no pointer leads to: leaves of 4 to 16 take 0.75 to 0.9 of their time.
template <typename V, bool kApart, int kLeaves, int kRows, int kVectors>
[[gnu::always_inline]] inline void sum_part(const TileRun<typename V::Value>& run,
                                            const ChainPart& part, Cursor<V, kApart, kRows>& next,
                                            Registers<V, kRows, kVectors>& acc) {
  if constexpr (kLeaves == 1) {
    load<V, kRows, kVectors>(part.resumes ? run.places[part.depth] : nullptr, acc);
    add_leaf<V, kApart, kRows, kVectors>(next, part.length, acc);
  } else {
    const std::int64_t length = part.length;
    sum_two<V, kApart, kRows, kVectors>(next, length, acc);
    if constexpr (kLeaves == 4) {
      alignas(64) typename V::Value left[kRows * kPlaceStride<V>];
      store<V, kRows, kVectors>(acc, left, kPlaceStride<V>);
      asm volatile("" ::: "memory");  // the compiler would keep it in registers that it lacks
      sum_two<V, kApart, kRows, kVectors>(next, length, acc);
      add_left<V, kRows, kVectors>(left, acc);
    }
  }
}

template <typename V, bool kApart, int kLeaves, int kRows, int kVectors>
void run_tile(const TileRun<typename V::Value>& run) {
  Registers<V, kRows, kVectors> acc;
  if (run.prefetches) {
    prefetch_rows<V, kRows, kVectors>(run.result, run.result_stride);
  }
  Cursor<V, kApart, kRows> next(run);
  for (std::int64_t p = 0; p < run.count; ++p) {
    // Barriers make the compiler read `run` again. It would keep its fields in vector registers, to
    // be had only when earlier multiply-adds are done, and the next leaf could not start before.
    asm volatile("" ::: "memory");
    sum_part<V, kApart, kLeaves, kRows, kVectors>(run, run.parts[p], next, acc);
    asm volatile("" ::: "memory");
    if (finish_part<V, kRows, kVectors>(run, p, acc)) {
      return;
    }
  }
}

// Between rows of which four share a pointer, in bytes.
struct FourSteps {
  std::int64_t one = 0;
  std::int64_t three = 0;  // an instruction multiplies by 2, not by 3
};

// Four rows of a share a pointer, which a table moves from one inner index to the next.
template <typename T, int kRows>
class GatheredRows {
 public:
  GatheredRows(const T* const* fours, std::int64_t bytes) {
#pragma GCC unroll 4
    for (int i = 0; i < kPointers; ++i) {
      at_[i] = reinterpret_cast<const char*>(fours[i]) + bytes;
      hide(at_[i]);
    }
  }

  [[nodiscard]] const T* row(int i, const FourSteps& steps) const {
    const int in_four = i % kGatheredRows;
    return reinterpret_cast<const T*>(at_[i / kGatheredRows] +
                                      (in_four == 3 ? steps.three : in_four * steps.one));
  }

 private:
  static constexpr int kPointers = (kRows + kGatheredRows - 1) / kGatheredRows;
  const char* at_[kPointers];
};

// Rows of a are where `run.fours` and `run.inner` say.
template <typename V, int kRows, int kVectors>
void run_gathered(const TileRun<typename V::Value>& run) {
  using Value = typename V::Value;
  Registers<V, kRows, kVectors> acc;
  if (run.prefetches) {
    prefetch_rows<V, kRows, kVectors>(run.result, run.result_stride);
  }
  for (std::int64_t p = 0; p < run.count; ++p) {
    asm volatile("" ::: "memory");  // as in run_tile
    const ChainPart& part = run.parts[p];
    const std::int64_t b_inner = run.b_inner;
    FourSteps steps = {.one = run.a_row * V::kStored, .three = 3 * run.a_row * V::kStored};
    asm("" : "+r"(steps.three));
    const Value* b = run.b + part.begin * b_inner;
    const std::int64_t* inner = run.inner + part.begin * V::kTogether;
    load<V, kRows, kVectors>(part.resumes ? run.places[part.depth] : nullptr, acc);
    {
      const Flushing<V::kFlushes> flushing;
#pragma GCC unroll 1
      for (std::int64_t k = 0; k < part.length; ++k) {
        const GatheredRows<Value, kRows> a(run.fours, *inner * V::kStored);
        add_index<V, kRows, kVectors>(a, steps, b, acc);
        inner += V::kTogether;
        b += b_inner;
        hide(b);
      }
      hold<V, kRows, kVectors>(acc);
    }
    asm volatile("" ::: "memory");
    if (finish_part<V, kRows, kVectors>(run, p, acc)) {
      return;
    }
  }
}

template <typename V, bool kApart, int kLeaves, int kVectors, int... kIndex>
constexpr typename GemmKernel<typename V::Value>::ByRows tiles_by_rows(
    std::integer_sequence<int, kIndex...>) {
  return {run_tile<V, kApart, kLeaves, kIndex + 1, kVectors>...};
}

template <typename V, int kVectors, int... kIndex>
constexpr typename GemmKernel<typename V::Value>::ByRows gathered_by_rows(
    std::integer_sequence<int, kIndex...>) {
  return {run_gathered<V, kIndex + 1, kVectors>...};
}

// Leaves that take turns fill the same registers with half as many rows.
template <typename V, int kAllRows, int kLeaves>
constexpr typename GemmKernel<typename V::Value>::Tiles make_tiles() {
  constexpr int kRows = kLeaves == 1 ? kAllRows : kAllRows / 2;
  const auto rows = std::make_integer_sequence<int, kRows>();
  return {.rows = kRows,
          .adjacent = {tiles_by_rows<V, false, kLeaves, 1>(rows),
                       tiles_by_rows<V, false, kLeaves, 2>(rows)},
          .apart = {tiles_by_rows<V, true, kLeaves, 1>(rows),
                    tiles_by_rows<V, true, kLeaves, 2>(rows)}};
}

template <typename V, int kRows>
constexpr GemmKernel<typename V::Value> make_gemm_kernel() {
  const auto rows = std::make_integer_sequence<int, kRows>();
  return {
      .rows = kRows,
      .lanes = V::kLanes,
      .together = V::kTogether,
      .tiles = {make_tiles<V, kRows, 1>(), make_tiles<V, kRows, 2>(), make_tiles<V, kRows, 4>()},
      .gathered = {gathered_by_rows<V, 1>(rows), gathered_by_rows<V, 2>(rows)}};
}

}  // namespace mtf
