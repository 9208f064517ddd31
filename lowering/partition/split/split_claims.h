// Which loops of an operation each mesh axis may split, by the layouts of operands and result.

#pragma once

#include <optional>
#include <vector>

#include "lowering/partition/split/split.h"

namespace mtf {

// The loop that an axis splits, or none.
using LoopOf = std::optional<std::size_t>;

struct LoopClaims {
  Axes axes;                // in the order in which they first claimed a loop
  std::size_t resting = 0;  // so many are of tensors at rest, the others of operands as made
  std::vector<std::vector<LoopOf>> claims;   // per axis, what some tensor splits over it
  std::vector<std::vector<LoopOf>> may;      // per axis, the loops to try, the first claimed first
  std::vector<Axes> order;                   // per loop, as its axes were first claimed
  std::vector<std::vector<Axes>> projected;  // per tensor and loop, the axes that it has there
  bool is_contested = false;                 // some axis is claimed by two loops

  // Of one of `axes`; of another, how many they are.
  [[nodiscard]] std::size_t number(AxisId axis) const;
};

[[nodiscard]] LoopClaims claims_of(const SplitProblem& problem, const Mesh& mesh);

}  // namespace mtf
