// What a folded text of a long plan need not be made for.
//
// A network of a thousand layers is told by the first of them. Which steps repeat is found by what
// they are, before there are lines; of a repetition only the first and the last times get lines,
// by which the text is folded, and each time that was left out is added to its fold.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "frontend/report/plan/fold.h"
#include "frontend/report/plan/value_names.h"
#include "frontend/report/why/reason.h"
#include "lowering/spmd.h"

namespace mtf {

// Inputs, steps and updates of a plan, one behind the other: of a repetition, those from `begin`
// on, so often as it is `times` as long as `length`.
struct LeftOut {
  std::size_t begin = 0;
  std::size_t length = 0;
  std::size_t times = 0;
  // For values in the last of it, those at their places in the last that is before it.
  std::vector<std::pair<SpmdId, SpmdId>> stands_for = {};

  [[nodiscard]] std::size_t end() const { return begin + length * times; }
};

// In order; what is left out is the same as what stands as long before it, with other names. None
// of a plan that is short, or has loops. `least`: so many items are not
// short.
[[nodiscard]] std::vector<LeftOut> left_out_of(const SpmdProgram& program, const ValueNames& names,
                                               const Reasons& reasons, std::size_t least);

// The lines of a plan without those that are left out.
struct BriefPlan {
  struct Read {
    std::string name;
    bool is_input = false;
  };
  std::vector<PlanLine> lines;
  std::vector<PlanCut> cuts;  // in lines that are not aside
  std::vector<Read> read;     // values that lines name, some of which have no line
};
[[nodiscard]] BriefPlan brief_plan(const SpmdProgram& program, const SourceMap& sources,
                                   std::int64_t rank, std::size_t least = 4096);

}  // namespace mtf
