// Operations along a dim of which ranks have parts, and need no more of the others' parts than a
// digest (IterationSpace::digest): one call leaves it, one collective brings it round, and another
// call does the rest.
//
// A digest has the dim itself, of as many elements as there are parts, then the other dims of the
// first operand, then its numbers.

#pragma once

#include <optional>
#include <span>

#include "lowering/reshard/reshard.h"
#include "lowering/spmd.h"

namespace mtf {

struct DigestMove {
  StepKind kind{};
  Axes axes;        // of the collective
  TensorType type;  // of the digests of all parts
  ValueLayout made;
  ValueLayout told;
  std::size_t loop = 0;  // that is in parts
  Volume volume;         // of the collective
};

// nullopt: each rank has all of the dim, or the operation has none like it.
[[nodiscard]] std::optional<DigestMove> digest_move(const OpCall& call, const IterationSpace& space,
                                                    std::span<const Axes> loops, const Mesh& mesh);

// The order in which the ranks of a scan go on from each other: the place of one.
[[nodiscard]] std::int64_t scan_place(const SpmdProgram& program, const Step& step,
                                      std::int64_t rank);

// The two calls, which yet lack the slices of the digest.
[[nodiscard]] LocalCall digesting(const LocalCall& whole, const DigestMove& move);
[[nodiscard]] LocalCall rest_of(const LocalCall& whole, const DigestMove& move);

}  // namespace mtf
