// Rows of leaves joined in registers: elements to lanes, halves of leaves to each other until each
// has one element, and these in pairs, which is their tree.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "runtime/kernels/reduce/reduce_kernel.h"
#include "runtime/kernels/reduce/reduce_ops.h"
#include "runtime/kernels/reduce/reduce_run.h"
#include "runtime/kernels/reduce/stored_rows.h"

namespace mtf {

inline constexpr std::int64_t kFewestShortLeaves = 2;
inline constexpr std::int64_t kMostJoined = 16;  // leaves of a row that are joined in registers

// In two vectors behind each other, the first halves of all segments of 2 * kHalf, or the second.
template <typename V, std::size_t kHalf, std::size_t kFrom, std::size_t... kLane>
V halves_of(const V& x, const V& y, std::index_sequence<kLane...> /*lanes*/) {
  return __builtin_shufflevector(x, y, (kLane / kHalf * 2 * kHalf + kLane % kHalf + kFrom)...);
}

// kElements, in segments of kLength that are leaves, to one: halves of leaves, then neighbours.
// Inlined, for what is in registers to stay there.
template <typename Op, typename T, std::size_t kElements, std::size_t kLength>
[[gnu::always_inline]] inline T join_segments(const Vector<T>* x) {
  if constexpr (kElements == 1) {
    return (*x)[0];
  } else {
    constexpr std::size_t kWide = kTogether<T>;
    constexpr std::size_t kHalf = std::max<std::size_t>(kLength / 2, 1);
    constexpr std::size_t kVectors = std::max<std::size_t>(kElements / 2 / kWide, 1);
    constexpr auto kLanes = std::make_index_sequence<kWide>();
    std::array<Vector<T>, kVectors> joined{};
    for (std::size_t v = 0; v < kVectors; ++v) {
      if constexpr (kHalf >= kWide) {
        constexpr std::size_t kApart = kHalf / kWide;
        const std::size_t first = v / kApart * 2 * kApart + v % kApart;
        joined[v] = x[first];
        PlainLanes<Op, T>::join(joined[v], x[first + kApart]);
      } else {
        const Vector<T>& lower = x[2 * v];
        const Vector<T>& upper = x[kElements > kWide ? 2 * v + 1 : 0];
        joined[v] = halves_of<Vector<T>, kHalf, 0>(lower, upper, kLanes);
        PlainLanes<Op, T>::join(joined[v],
                                halves_of<Vector<T>, kHalf, kHalf>(lower, upper, kLanes));
      }
    }
    return join_segments<Op, T, kElements / 2, kHalf>(joined.data());
  }
}

// A row of kLeaves runs, each a lane for each element.
template <typename Op, typename T, std::size_t kLeaves, std::size_t kLength>
T join_row(const T* row) {
  constexpr std::size_t kElements = kLeaves * kLength;
  constexpr std::size_t kVectors = std::max<std::size_t>(kElements / kTogether<T>, 1);
  constexpr std::size_t kBytes = std::min(sizeof(Vector<T>), kElements * sizeof(T));
  std::array<Vector<T>, kVectors> lanes{};
  for (std::size_t v = 0; v < kVectors; ++v) {  // one by one: a vector is not to be pieced together
    Vector<T> loaded{};
    std::memcpy(&loaded, row + v * kTogether<T>, kBytes);
    lanes[v] = Vector<T>{} + Op::identity();
    PlainLanes<Op, T>::join(lanes[v], loaded);
  }
  return join_segments<Op, T, kElements, kLength>(lanes.data());
}

template <typename T>
using JoinRow = T (*)(const T* row);

// For runs that have a power of two up to 16.
template <typename Op, typename T, std::size_t kLeaves>
JoinRow<T> row_joiner(std::int64_t length) {
  constexpr std::array<JoinRow<T>, 5> kByLength = {
      join_row<Op, T, kLeaves, 1>, join_row<Op, T, kLeaves, 2>, join_row<Op, T, kLeaves, 4>,
      join_row<Op, T, kLeaves, 8>, join_row<Op, T, kLeaves, 16>};
  return kByLength[static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(length)))];
}

template <typename Op, typename T>
JoinRow<T> row_joiner(std::int64_t leaves, std::int64_t length) {
  constexpr std::array<JoinRow<T> (*)(std::int64_t), 4> kByLeaves = {
      row_joiner<Op, T, 2>, row_joiner<Op, T, 4>, row_joiner<Op, T, 8>, row_joiner<Op, T, 16>};
  const int log = std::countr_zero(static_cast<std::uint64_t>(leaves / kFewestShortLeaves));
  return kByLeaves[static_cast<std::size_t>(log)](length);
}

// Halves of leaves of 2 * kHalf elements, or neighbours, joined: of `elements` half as many, in
// order. `to` may be where they are. Requires two vectors at least.
template <typename Op, typename T, std::size_t kHalf>
void join_pairs(const T* from, std::int64_t elements, T* to) {
  constexpr std::size_t kWide = kTogether<T>;
  constexpr auto kLanes = std::make_index_sequence<kWide>();
  for (const T* const end = from + elements; from != end; from += 2 * kWide, to += kWide) {
    Vector<T> lower;  // one by one: a vector is not to be pieced together
    std::memcpy(&lower, from, sizeof(lower));
    Vector<T> upper;
    std::memcpy(&upper, from + kWide, sizeof(upper));
    auto joined = halves_of<Vector<T>, kHalf, 0>(lower, upper, kLanes);
    PlainLanes<Op, T>::join(joined, halves_of<Vector<T>, kHalf, kHalf>(lower, upper, kLanes));
    std::memcpy(to, &joined, sizeof(joined));
  }
}

// The same of leaves of `length` elements.
template <typename Op, typename T>
void join_halves_of_leaves(const T* from, std::int64_t elements, std::int64_t length, T* to) {
  if (length <= 2) {
    return join_pairs<Op, T, 1>(from, elements, to);
  }
  if (length == 4) {
    return join_pairs<Op, T, 2>(from, elements, to);
  }
  const std::int64_t half = length / 2;
  if (half < static_cast<std::int64_t>(kTogether<T>)) {
    return join_pairs<Op, T, 4>(from, elements, to);
  }
  for (const T* const end = from + elements; from != end; from += length, to += half) {
    std::transform(from, from + half, from + half, to, Op::apply);
  }
}

// Joins a run of some times kReduceLanes elements to as many lanes.
template <typename Op, typename S, typename T>
void add_run(const S* x, const S* end, T* lanes) {
  if constexpr (std::is_same_v<S, T>) {
    for (std::size_t lane = 0; lane < kReduceLanes; lane += kTogether<T>) {
      Vector<T> sums;
      std::memcpy(&sums, lanes + lane, sizeof(sums));
      for (const S* at = x; at != end; at += kReduceLanes) {
        Vector<T> loaded;
        std::memcpy(&loaded, at + lane, sizeof(loaded));
        PlainLanes<Op, T>::join(sums, loaded);
      }
      std::memcpy(lanes + lane, &sums, sizeof(sums));
    }
  } else {
    accumulate_runs<Op>(x, end, lanes);
  }
}

template <typename S, typename T>
void take_row(const S* x, std::int64_t elements, T* lanes) {
  make_row<S>(elements, lanes,
              [x](std::int64_t j, auto zero) { return widened<decltype(zero)>(x + j); });
}

}  // namespace mtf
