// Blocks of a plan that are there several times in a row, as the layers of a network are.
//
// Two runs of lines are alike where they say the same with other names, and the names of one can be
// exchanged for those of the other one by one. A block may have such blocks in it.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "frontend/report/plan/pseudo_code.h"

namespace mtf {

struct PlanPart {
  std::size_t begin = 0;  // lines; of a block, those of its first occurrence
  std::size_t end = 0;
  std::int64_t times = 1;
  std::string names;            // of a block: "layer_1 … layer_23 as layer_0"; or empty
  std::vector<PlanPart> parts;  // of a block
};

// `lines`: all of a plan, or some of `plan`, which has the names that they use.
[[nodiscard]] std::vector<PlanPart> folded(std::span<const PlanLine> lines,
                                           std::span<const PlanLine> plan);

}  // namespace mtf
