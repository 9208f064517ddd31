// Where an axis of a value came from: from hop to hop back to a rule or an annotation.

#pragma once

#include <set>
#include <vector>

#include "lowering/spmd.h"

namespace mtf {

// A value that has the axis on this dim, and what gave it to it.
struct Hop {
  ValueId value;
  std::string dim;
  Cause cause;
};

// Hops from the value that is asked about to the one whose cause is a rule, an annotation or what a
// variable is held in.
struct Path {
  AxisId axis = 0;
  std::vector<Hop> hops;

  [[nodiscard]] const Hop& root() const { return hops.back(); }
};

class Tracer {
 public:
  explicit Tracer(const SpmdProgram& program);

  // Of an axis of the value at rest; no hops where it does not have it.
  [[nodiscard]] Path at_rest(ValueId id, AxisId axis) const;

  // Of what splits a loop of a call over the axis: one path for each tensor of the call, operands
  // then result, that rests so; where none does, those of what made its operands.
  [[nodiscard]] std::vector<Path> of_loop(const LocalCall& call, std::size_t loop,
                                          AxisId axis) const;

  // Of an axis of a slice, as it was made or moved.
  [[nodiscard]] std::vector<Path> of_slice(SpmdId id, AxisId axis) const;

  // The call that computes a value; null for an input.
  [[nodiscard]] const LocalCall* maker(ValueId id) const;
  // The call that computes a slice itself; null where a collective made it, or nothing.
  [[nodiscard]] const LocalCall* maker(SpmdId id) const;
  // The call behind all moves of a slice; null for an input.
  [[nodiscard]] const LocalCall* first_maker(SpmdId id) const;
  // The slice at rest, or the first that there is; invalid where the value has none of its own.
  [[nodiscard]] SpmdId slice(ValueId id) const;
  // The step that makes a slice; null for an input.
  [[nodiscard]] const Step* step(SpmdId id) const;

 private:
  void find_slices();
  // `seen`: slices that were asked already, each once.
  void add_slice(SpmdId id, AxisId axis, std::set<std::int32_t>& seen,
                 std::vector<Path>& paths) const;
  void add_loop(const LocalCall& call, std::size_t loop, AxisId axis, std::set<std::int32_t>& seen,
                std::vector<Path>& paths) const;

  const SpmdProgram& program_;
  std::vector<const LocalCall*> by_value_;  // per source value
  std::vector<const LocalCall*> by_slice_;  // per SPMD value
  std::vector<const Step*> steps_;          // per SPMD value
  std::vector<SpmdId> slices_;              // per source value
};

// The loop of a dim of one tensor of a call, of those that the axis splits; nullopt: none.
[[nodiscard]] std::optional<std::size_t> loop_with(const LocalCall& call, AxisId axis);

// The dim that the axis splits.
[[nodiscard]] std::optional<std::size_t> dim_with(const ValueLayout& layout, AxisId axis);

}  // namespace mtf
