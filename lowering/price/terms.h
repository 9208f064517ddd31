// What a program costs as a formula of the user's dims and axes: "12·batch·io·hidden/(rows·cols)".
//
// Each amount of a plan is a sum of products of sizes of dims over sizes of axes. Only the leading
// terms are kept, as in Table 1 of the Mesh-TensorFlow paper: a term all of whose dims another has
// too, and more, does not count beside it when dims grow.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "lowering/memory/peak.h"
#include "lowering/spmd.h"

namespace mtf {

struct Term {
  double coefficient = 0;
  std::map<std::string, int> dims;  // the power of each
  std::map<std::string, int> axes;  // of each that divides it

  friend bool operator==(const Term&, const Term&) = default;
};
using Terms = std::vector<Term>;  // the largest first

struct CostTerms {
  Terms flops;                     // per rank
  std::vector<Terms> collectives;  // elements handed over, for each of totals.collectives
  Terms elements;                  // that a rank holds at its peak of memory
};

[[nodiscard]] CostTerms terms_of(const SpmdProgram& program, const Peak& peak);

}  // namespace mtf
