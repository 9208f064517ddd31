// Why an axis of the mesh splits no dim of a value at rest.

#pragma once

#include <string>

#include "lowering/layout/rule_sources.h"
#include "lowering/spmd.h"

namespace mtf {

struct Absence {
  std::string text;  // "`batch -> x` names no dim of it"
  SourceSpan span;   // of the rule, annotation or operation that decides it, if there is one
};

// requires: the value's layout at rest does not have the axis.
[[nodiscard]] Absence why_not(const SpmdProgram& program, const Layout& layout,
                              const RuleSources& rule_sources, ValueId id, AxisId axis);

}  // namespace mtf
