// The layout that each value of a program is given, before anything is partitioned.
//
// In this order: the pin of an `@`; for a variable, and what is computed in its place (its
// gradient, its update), the rules of the variable; the rules of the region or of the layout. With
// `infer`, what is left open follows from the neighbours (infer.h).

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/layout/layout.h"
#include "ir/program.h"

namespace mtf {

// Layouts that variables have already, by path: nothing moves them.
using HeldLayouts = std::map<std::string, ValueLayout, std::less<>>;

// One per value, or nullopt after errors. A tensor that shows an illegal layout is reported where
// it is made, each kind of conflict once.
[[nodiscard]] std::optional<std::vector<SharedTarget>> targets_of(const Program& program,
                                                                  const Layout& layout,
                                                                  const HeldLayouts& held,
                                                                  DiagSink& diags);

}  // namespace mtf
