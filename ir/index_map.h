// Where the elements of a moved dim come from: an affine map from the indices of one dim to those
// of another, and what stands where it leads outside. Slices, shifts, pads and reversals are such
// maps, and so is what a rank reads around its block.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/support/interval.h"

namespace mtf {

enum class Border : std::uint8_t {
  kValue,    // a number
  kEdge,     // the nearest element
  kWrap,     // the other end: the dim is a ring
  kReflect,  // the elements again in the opposite order, without the outermost
};

// Index `i` reads index `(i * stride + offset) / gap` of the operand; where that is no whole number
// or none of its indices, the border stands.
struct IndexMap {
  std::int64_t stride = 1;
  std::int64_t offset = 0;
  std::int64_t gap = 1;
  Border border = Border::kValue;
  double value = 0;

  friend bool operator==(const IndexMap&, const IndexMap&) = default;
};

// `count` indices, `to_step` apart, that read as many of the operand, `from_step` apart.
struct IndexRun {
  std::int64_t to = 0;
  std::int64_t from = 0;
  std::int64_t count = 0;
  std::int64_t to_step = 1;
  std::int64_t from_step = 1;

  friend bool operator==(const IndexRun&, const IndexRun&) = default;
};

// What the indices `to` read of an operand dim of `size`, each at most once.
[[nodiscard]] std::vector<IndexRun> runs_of(const IndexMap& map, std::int64_t size, Interval to);
// Of these, what reads inside of `from`.
[[nodiscard]] std::vector<IndexRun> runs_within(const std::vector<IndexRun>& runs, Interval from);
// How many indices they are.
[[nodiscard]] std::int64_t count_of(const std::vector<IndexRun>& runs);

}  // namespace mtf
