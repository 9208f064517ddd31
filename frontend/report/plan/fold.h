// Blocks of a plan that are there several times in a row, as the layers of a network are.
//
// Two runs of lines are alike where they say the same with other names, and the names of one can be
// exchanged for those of the other one by one. A block may have such blocks in it.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

// Lines that a plan has and a text of it does not need: so many of them behind the first `at`, the
// same as stand there, with other names. Lines up to `until` may still read what is made in them:
// of each such name, the one that was made as long before `at`.
struct PlanCut {
  std::size_t at = 0;
  std::size_t lines = 0;
  std::size_t until = 0;
  std::vector<std::pair<std::string, std::string>> stands_for = {};
};

// The name of a value, which lives on elsewhere.
struct PlanName {
  std::string_view text;
  bool is_input = false;
};
[[nodiscard]] std::vector<PlanName> names_in(std::span<const PlanLine> plan);

// A name as it is compared: "layer_#/w" of "layer_12/w", "centred" of "centred.2".
[[nodiscard]] std::string stem_of(std::string_view name);

// `lines`: of a plan; `names`: all those that they use; `cuts`: of the lines, in order.
[[nodiscard]] std::vector<PlanPart> folded(std::span<const PlanLine> lines,
                                           std::span<const PlanName> names,
                                           std::span<const PlanCut> cuts = {});

// Adds what was cut out to the blocks that it is of. False: of a cut there is no such block.
[[nodiscard]] bool add_cuts(std::span<const PlanCut> cuts, std::vector<PlanPart>& parts);

}  // namespace mtf
