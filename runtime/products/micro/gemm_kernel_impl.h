// The body of every micro-kernel, over a register type `V`.
//
// Included only by gemm_kernel_*.cpp, each with a `V` of internal linkage: code built for one
// instruction set must never be the copy that the linker keeps for another.

#pragma once

#include <utility>

#include "runtime/products/micro/cursors.h"
#include "runtime/products/micro/flushing.h"
#include "runtime/products/micro/gemm_kernel.h"
#include "runtime/products/micro/registers.h"

namespace mtf {

// A part whose chain is done, in registers: what waits for it is at places below `at`.
template <typename T>
struct DonePart {
  T* const* at = nullptr;
  int merges = 0;  // that are left to do
};

// Adds to a part's value what waits for it, but for `rest`.
template <typename V, int kRows, int kVectors>
[[gnu::always_inline]] inline void merge(DonePart<typename V::Value>& done, int rest,
                                         Registers<V, kRows, kVectors>& acc) {
  for (; done.merges > rest; --done.merges) {
    add_left<V, kRows, kVectors>(*--done.at, acc);
  }
}

// Puts a part's whole value away, if there is one, before the next chains' mode.
template <typename V, int kRows, int kVectors>
[[gnu::always_inline]] inline void finish(DonePart<typename V::Value> done,
                                          Registers<V, kRows, kVectors>& acc) {
  merge<V, kRows, kVectors>(done, 0, acc);
  if (done.at != nullptr) {
    store<V, kRows, kVectors>(acc, *done.at, kPlaceStride<V>);
  }
  hold<V, kRows, kVectors>(acc);
}

inline constexpr int kMergesAtStart = 2;  // at most

// Adds the first index of chains behind a part that is done, with no more merges left.
template <typename V, int kRows, int kVectors, typename Cursor>
[[gnu::always_inline]] inline void start(const DonePart<typename V::Value>& done, Cursor& next,
                                         Registers<V, kRows, kVectors>& acc) {
  using Value = typename V::Value;
  Value* const* const at = done.at;
  switch (done.merges) {
    case 0:
      return next.start(Before<Value, 0>{{at[0]}}, acc);
    case 1:
      return next.start(Before<Value, 1>{{at[-1]}}, acc);
    default:
      return next.start(Before<Value, 2>{{at[-1], at[-2]}}, acc);
  }
}

// The chain of one leaf, or a piece of it, behind another part.
template <typename V, int kRows, int kVectors, typename Cursor>
[[gnu::always_inline]] inline void run_leaf(const TileRun<typename V::Value>& run,
                                            const ChainPart& part,
                                            DonePart<typename V::Value> before, Cursor& next,
                                            Registers<V, kRows, kVectors>& acc) {
  const bool starts = before.at != nullptr && !part.resumes && part.length > 0;
  if (starts) {  // sums stay out of the chains' mode
    merge<V, kRows, kVectors>(before, V::kFlushes ? 0 : kMergesAtStart, acc);
    hold<V, kRows, kVectors>(acc);
  } else {
    finish<V, kRows, kVectors>(before, acc);
  }
  const Flushing<V::kFlushes> flushing;
  if (starts) {
    start<V, kRows, kVectors>(before, next, acc);
  } else {
    load<V, kRows, kVectors>(part.resumes ? run.places[part.depth] : nullptr, acc);
  }
  next.add(part.length - (starts ? 1 : 0), acc);
  hold<V, kRows, kVectors>(acc);
}

// The sum of two leaves side by side, whose chains take turns.
template <typename V, int kRows, int kVectors, typename Cursor>
[[gnu::always_inline]] inline void sum_two(std::int64_t length, Cursor& next,
                                           Registers<V, kRows, kVectors>& acc) {
  Cursor second = next;
  second.advance(length);
  Registers<V, kRows, kVectors> right;
  load<V, kRows, kVectors>(nullptr, acc);
  load<V, kRows, kVectors>(nullptr, right);
  {
    const Flushing<V::kFlushes> flushing;
#pragma GCC unroll 4
    for (std::int64_t k = 0; k < length; ++k) {
      next.add_one(acc);
      second.add_one(right);
    }
    hold<V, kRows, kVectors>(acc);
    hold<V, kRows, kVectors>(right);
  }
  add_right<V, kRows, kVectors>(right, acc);
  next = second;
}

// The sum of two leaves, or of four. What is written out for four has no branches but those of its
// loops, which processors would guess wrong for short leaves, and waits in a place that no pointer
// leads to: leaves of 4 to 16 take 0.75 to 0.9 of their time.
template <typename V, int kLeaves, int kRows, int kVectors, typename Cursor>
[[gnu::always_inline]] inline void sum_leaves(std::int64_t length, Cursor& next,
                                              Registers<V, kRows, kVectors>& acc) {
  sum_two<V, kRows, kVectors>(length, next, acc);
  if constexpr (kLeaves == 4) {
    alignas(64) typename V::Value left[kRows * kPlaceStride<V>];
    store<V, kRows, kVectors>(acc, left, kPlaceStride<V>);
    asm volatile("" ::: "memory");  // the compiler would keep it in registers that it lacks
    sum_two<V, kRows, kVectors>(length, next, acc);
    add_left<V, kRows, kVectors>(left, acc);
  }
}

template <typename V, typename Cursor, int kLeaves, int kRows, int kVectors>
[[gnu::always_inline]] inline void run_parts(const TileRun<typename V::Value>& run) {
  using Value = typename V::Value;
  Registers<V, kRows, kVectors> acc;
  load<V, kRows, kVectors>(nullptr, acc);
  if (run.prefetches) {
    prefetch_rows<V, kRows, kVectors>(run.result, run.result_stride);
  }
  Cursor next(run);
  DonePart<Value> done;
  for (std::int64_t p = 0; p < run.count; ++p) {
    // Barriers make the compiler read `run` again. It would keep its fields in vector registers, to
    // be had only when earlier multiply-adds are done, and the next leaf could not start before.
    asm volatile("" ::: "memory");
    const ChainPart& part = run.parts[p];
    if constexpr (kLeaves == 1) {
      run_leaf<V, kRows, kVectors>(run, part, done, next, acc);
    } else {
      finish<V, kRows, kVectors>(done, acc);
      sum_leaves<V, kLeaves, kRows, kVectors>(part.length, next, acc);
    }
    asm volatile("" ::: "memory");
    done = {.at = run.places + part.depth, .merges = part.merges};
  }
  if (run.result == nullptr) {
    return finish<V, kRows, kVectors>(done, acc);
  }
  merge<V, kRows, kVectors>(done, 0, acc);
  store<V, kRows, kVectors>(acc, run.result, run.result_stride);
}

template <typename V, bool kApart, int kLeaves, int kRows, int kVectors>
void run_tile(const TileRun<typename V::Value>& run) {
  run_parts<V, StridedCursor<V, kApart, kRows>, kLeaves, kRows, kVectors>(run);
}

template <typename V, int kLeaves, int kRows, int kVectors>
void run_gathered(const TileRun<typename V::Value>& run) {
  run_parts<V, GatheredCursor<V, kRows>, kLeaves, kRows, kVectors>(run);
}

template <typename V, bool kApart, int kLeaves, int kVectors, int... kIndex>
constexpr typename GemmKernel<typename V::Value>::ByRows tiles_by_rows(
    std::integer_sequence<int, kIndex...>) {
  return {run_tile<V, kApart, kLeaves, kIndex + 1, kVectors>...};
}

template <typename V, int kLeaves, int kVectors, int... kIndex>
constexpr typename GemmKernel<typename V::Value>::ByRows gathered_by_rows(
    std::integer_sequence<int, kIndex...>) {
  return {run_gathered<V, kLeaves, kIndex + 1, kVectors>...};
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
      .gathered = {gathered_by_rows<V, 1, 1>(rows), gathered_by_rows<V, 1, 2>(rows)},
      .gathered_fours = gathered_by_rows<V, 4, 1>(rows)};
}

}  // namespace mtf
