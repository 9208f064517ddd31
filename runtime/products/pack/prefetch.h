// Memory that is packed in a moment is asked for before: rows far apart, which hardware does not
// foresee. Of products of 256 rows, the packing of columns took a tenth of the time without it.

#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "runtime/products/offsets.h"

namespace mtf {

inline constexpr std::int64_t kIndicesAhead = 16;  // a line of each, as many as a core waits for
// Whose lanes are copied together. Where rows are 4 KiB apart or a multiple of it, a nearest cache
// has 8 or 12 places for lines of the same tile.
inline constexpr std::int64_t kIndicesTogether = 8;
inline constexpr std::int64_t kLineBytes = 64;
inline constexpr std::int64_t kLanesAtOnce = 8;  // that are turned together

// Where element `i` lies, or the last one; the first, which is near, where finding out would take
// as long as a miss.
template <typename T>
const T* element_ahead(const T* x, const Offsets& offsets, std::int64_t i) {
  return offsets.even || !offsets.table.empty() ? x + offsets.at(std::min(i, offsets.size - 1)) : x;
}

// Where `count` lanes begin, and then those that come next as element_ahead knows them: found once
// for all runs of indices, which may be short.
template <typename T, std::size_t kPlaces>
void find_places(const T* x, const Offsets& lanes, std::int64_t first, std::int64_t count,
                 std::array<std::int64_t, kPlaces>& places) {
  const auto size = static_cast<std::size_t>(count);
  assert(size + kLanesAtOnce <= kPlaces);
  for (std::size_t j = 0; j < size + kLanesAtOnce; ++j) {
    const std::int64_t lane = first + static_cast<std::int64_t>(j);
    places[j] = j < size ? lanes.at(lane) : element_ahead(x, lanes, lane) - x;
  }
}

// So many bytes from x on.
template <typename T>
void prefetch(const T* x, std::int64_t bytes) {
  constexpr std::int64_t kInLine = kLineBytes / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t i = 0; i * kLineBytes < bytes; ++i) {
    __builtin_prefetch(x + i * kInLine);
  }
}

}  // namespace mtf
