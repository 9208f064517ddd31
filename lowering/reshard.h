// The reshard planner: from one layout of a value to another in the fewest received elements.
//
// A search over layouts (Dijkstra) with the moves of sharding.md 3.1: slice (free), all-to-all,
// permute, all-gather, and broadcast of what only some ranks hold; pending sums are finished first,
// by reduce-scatter where the target wants the axis, by reduce where it has a condition on it, and
// by all-reduce elsewhere. Nothing is replicated on the way unless that is cheapest.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lowering/spmd.h"

namespace mtf {

// One collective, or a local slice.
struct Move {
  StepKind kind{};
  ValueLayout to;
  Axes axes;  // of the group, major first; of a reduction, in the order of its tree
};

// What a rank hands to a collective and what it receives with a bandwidth-optimal algorithm
// (references.md), in elements. Fractions are rounded down.
struct Volume {
  std::int64_t elements = 0;
  std::int64_t received = 0;
};
[[nodiscard]] Volume volume_of(StepKind kind, std::int64_t local, std::int64_t ranks);

class Resharder {
 public:
  explicit Resharder(const Mesh& mesh) : mesh_(mesh) {}

  // requires: `to` has no pending sum.
  [[nodiscard]] const std::vector<Move>& plan(const Shape& shape, const ValueLayout& from,
                                              const ValueLayout& to);
  // Elements received per rank.
  [[nodiscard]] std::int64_t received(const Shape& shape, const ValueLayout& from,
                                      const ValueLayout& to);
  [[nodiscard]] std::int64_t local_volume(const Shape& shape, const ValueLayout& layout) const;

 private:
  struct Planned {
    std::vector<Move> moves;
    std::int64_t received = 0;
  };
  const Planned& planned(const Shape& shape, const ValueLayout& from, const ValueLayout& to);

  const Mesh& mesh_;
  std::map<std::vector<std::int64_t>, Planned> cache_;  // by sizes, from and to
};

}  // namespace mtf
