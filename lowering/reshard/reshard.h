// The reshard planner: from one layout of a value to another in the fewest received elements.
//
// Where no dim of the value changes its axes for others, one step does it with nothing received
// twice. Everything else, and partial sums, is searched (reshard_search.h): slices (free),
// all-to-alls, permutes, all-gathers, reduce-scatters and all-reduces, and for storage on a part of
// the mesh broadcasts and reductions to the holders. Nothing is replicated on the way unless that
// is cheapest.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
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
// (lowering/SHARDING.md), in elements. Fractions are rounded down.
struct Volume {
  std::int64_t elements = 0;
  std::int64_t received = 0;
};
// `from`, `to`: elements of a rank's slice before and after.
[[nodiscard]] Volume volume_of(StepKind kind, std::int64_t from, std::int64_t to,
                               std::int64_t ranks);

// Of a step that moves. Where slices are of several sizes, an all-to-all is what the rank receives
// that receives most.
[[nodiscard]] Volume volume_of(const SpmdProgram& program, const Step& step);

// Messages that follow one another when the ranks of a group pass them on in a ring.
[[nodiscard]] std::int64_t hops_of(StepKind kind, std::int64_t ranks);

// Sets what a step that moves hands over and receives.
void measure(const SpmdProgram& program, Step& step);

class Resharder {
 public:
  explicit Resharder(const Mesh& mesh) : mesh_(mesh) {}

  // requires: `to` has no partial sum, and no blocks of `from` overlap.
  [[nodiscard]] const std::vector<Move>& plan(const Shape& shape, const ValueLayout& from,
                                              const ValueLayout& to);
  // Elements received per rank.
  [[nodiscard]] std::int64_t received(const Shape& shape, const ValueLayout& from,
                                      const ValueLayout& to);
  // Collectives on the way.
  [[nodiscard]] std::int64_t collectives(const Shape& shape, const ValueLayout& from,
                                         const ValueLayout& to);
  [[nodiscard]] std::int64_t local_volume(const Shape& shape, const ValueLayout& layout) const;
  // What its answers have taken, and what else somebody looked at for the same plans: a measure of
  // work that is the same on every machine.
  [[nodiscard]] std::int64_t looks() const { return looks_; }
  void add_looks(std::int64_t looks) { looks_ += looks; }

 private:
  struct Planned {
    std::vector<Move> moves;
    std::int64_t received = 0;
    std::int64_t collectives = 0;
    std::int64_t hops = 0;
  };
  [[nodiscard]] Planned measured(const Shape& shape, const ValueLayout& from, const ValueLayout& to,
                                 const std::vector<Move>& found) const;
  void use_idle(const Shape& shape, const ValueLayout& from, const ValueLayout& to, Planned& best);
  [[nodiscard]] std::optional<Axes> in_one_step(const ValueLayout& from,
                                                const ValueLayout& to) const;
  [[nodiscard]] Planned with_border(const Shape& shape, const ValueLayout& from,
                                    const ValueLayout& to);
  const Planned& planned(const Shape& shape, const ValueLayout& from, const ValueLayout& to);

  const Mesh& mesh_;
  std::map<std::vector<std::int64_t>, Planned> cache_;  // by sizes, from and to
  std::int64_t looks_ = 0;
};

}  // namespace mtf
