// A mesh: ranks arranged along named axes. Rank numbers are row-major, the last axis fastest.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/layout/axes.h"
#include "ir/support/interval.h"
#include "ir/support/source.h"

namespace mtf {

[[nodiscard]] bool has(const Axes& axes, AxisId axis);

struct MeshAxis {
  std::string name;
  std::int64_t size = 1;

  friend bool operator==(const MeshAxis&, const MeshAxis&) = default;
};

// Of a rank, its place along each axis; 0 behind the last one. Slices of many ranks are asked for:
// it needs no memory of its own.
using Coordinates = std::array<std::int64_t, kMaxAxes>;

struct Mesh {
  std::string name;
  std::vector<MeshAxis> axes;
  std::string profile;  // hardware, "" if none
  SourceSpan span;
  bool uneven = false;  // sizes need not divide: later blocks are shorter, or empty

  [[nodiscard]] std::int64_t ranks() const;
  [[nodiscard]] std::int64_t size_of(const Axes& list) const;  // product of the axes' sizes
  [[nodiscard]] std::optional<AxisId> find(std::string_view axis) const;
  [[nodiscard]] std::vector<std::int64_t> coordinates(std::int64_t rank) const;  // one an axis
  [[nodiscard]] Coordinates place_of(std::int64_t rank) const;
  [[nodiscard]] std::int64_t rank_at(const Coordinates& at) const;
  // Index of a rank along several axes taken as one, major first.
  [[nodiscard]] std::int64_t index_along(std::int64_t rank, const Axes& list) const {
    return index_along(place_of(rank), list);
  }
  [[nodiscard]] std::int64_t index_along(const Coordinates& at, const Axes& list) const;
  // Which indices of a dim of `size` a rank has when these axes split it: blocks of ceil(size / n),
  // each cut by the next axis in the same way.
  [[nodiscard]] Interval part_of(std::int64_t size, const Axes& list, std::int64_t rank) const {
    return part_of(size, list, place_of(rank));
  }
  [[nodiscard]] Interval part_of(std::int64_t size, const Axes& list, const Coordinates& at) const;
  // Of the longest block. requires: without `uneven`, that all are as long.
  [[nodiscard]] std::int64_t longest_part(std::int64_t size, const Axes& list) const;
  // Whether these axes may split a dim of `size`.
  [[nodiscard]] bool splits(std::int64_t size, const Axes& list) const;
  // The ranks that differ from `rank` only along `list`, ordered by `index_along`.
  [[nodiscard]] std::vector<std::int64_t> group_of(std::int64_t rank, const Axes& list) const;
};

[[nodiscard]] std::string to_string(const Mesh& mesh);  // "grid[rows: 2, cols: 2]"
[[nodiscard]] std::string to_string(const Mesh& mesh, const Axes& axes);  // "rows, cols"

}  // namespace mtf
