// Trees of additions: the terms of a sum, and the numbers that scale them.

#pragma once

#include <vector>

#include "ir/program.h"

namespace mtf {

// A factor of a term: `op` of the number and what it scales, or the other way round.
struct TermScale {
  const OpDef* op = nullptr;
  ValueId by;
  bool first = false;  // the number is the first operand

  friend bool operator==(const TermScale&, const TermScale&) = default;
};

// Of a tree of additions, as it counts in the sum.
struct SumTerm {
  ValueId value;
  bool negated = false;
  std::vector<TermScale> scales;  // the innermost first
};

// Terms that are joined, and what all of them have in common, which is left to their one sum: the
// rate of -rate * (a + b).
struct TermGroup {
  std::vector<SumTerm> terms;
  bool negated = false;
  std::vector<TermScale> scales;  // the innermost first
};

[[nodiscard]] bool is_addition(const Value& value);
// Whether it is a contraction or a sum over dims.
[[nodiscard]] bool sums_up(const Value& value);

// Which values are inner nodes of a tree of additions: nobody else reads them. `uses`: of each.
[[nodiscard]] std::vector<char> inner_nodes(const Program& program, const std::vector<int>& uses);
// The terms of the tree of a root.
[[nodiscard]] std::vector<SumTerm> terms_of(const Program& program, const std::vector<char>& inner,
                                            ValueId root);

// Takes the outermost scales that all terms have, and their sign, out of them.
void take_common(TermGroup& group);

}  // namespace mtf
