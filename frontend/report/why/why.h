// Why a collective is there, why a value lies as it does: the facts, for text and JSON.

#pragma once

#include <string>
#include <vector>

#include "frontend/report/plan/step_text.h"
#include "frontend/report/why/absence.h"
#include "frontend/report/why/trace.h"
#include "lowering/spmd.h"

namespace mtf {

// One side of a disagreement: how a tensor lies, or has to.
struct Side {
  std::string text;  // "`h` has hidden over cols", "the result is whole over cols"
  Path path;         // from it back to a rule; no hops where none is behind it
  SourceSpan span;   // of the operation that says so, where there is no path
};

// What it would have been instead, in bytes that a rank receives for the same operation.
struct Alternative {
  std::string text;
  std::int64_t bytes = 0;
  std::int64_t instead_of = 0;
  std::string besides = {};  // what it takes more of, where that is not bytes
};

struct CollectiveWhy {
  std::size_t step = 0;
  std::vector<Side> had;
  std::vector<Side> wanted;
  std::vector<Alternative> otherwise;
};

// `names`: values without a name of their own are called as the plan calls them; null: by their
// operation.
[[nodiscard]] CollectiveWhy why_collective(const SpmdProgram& program, const Tracer& tracer,
                                           std::size_t step, const ValueNames* names);

// One axis of the mesh, for one value at rest: the path it came by, or why it did not.
struct AxisWhy {
  AxisId axis = 0;
  Path path;
  Absence absence;
};

// A slice of the value other than the one at rest: made for some operation.
struct FormWhy {
  SpmdId slice;
  std::size_t step = 0;
};

struct ValueWhy {
  ValueId value;
  SpmdId slice;  // at rest; invalid: the program does not keep it so
  std::vector<AxisWhy> axes;
  std::vector<FormWhy> forms;
};

[[nodiscard]] ValueWhy why_value(const SpmdProgram& program, const Tracer& tracer,
                                 const Layout& layout, const RuleSources& rule_sources, ValueId id);

}  // namespace mtf
