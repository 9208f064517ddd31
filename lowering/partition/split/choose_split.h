// The search among splits, axis by axis.

#pragma once

#include "lowering/partition/split/split.h"

namespace mtf {

// choose_split, with each axis of the mesh by itself.
[[nodiscard]] LoopSplit choose_by_axes(const SplitProblem& problem, Resharder& resharder,
                                       const Mesh& mesh);

// The best that is found by moving axes from loop to loop, from this split on. requires: the loops
// may be split so.
[[nodiscard]] LoopSplit improved_by_axes(const SplitProblem& problem, Resharder& resharder,
                                         const Mesh& mesh, const std::vector<Axes>& loops);

}  // namespace mtf
