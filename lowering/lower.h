// From a global program and a layout to the SPMD program.

#pragma once

#include <optional>

#include "lowering/layout/targets.h"
#include "lowering/spmd.h"

namespace mtf {

// Simplifies, gives every value its layout, partitions each operation, joins element-wise chains,
// plans memory and adds up the totals. nullopt: the layout does not fit, and `diags` says where.
// Without `exact`, sums of any partial sums stay partial: fewer all-reduces, other bits.
// `held`: variables that are in a layout already.
[[nodiscard]] std::optional<SpmdProgram> lower(const Program& program, const Layout& layout,
                                               OpTable ops, DiagSink& diags, bool exact = true,
                                               const HeldLayouts& held = {});

// The same of a program that `simplify` has been through, which several layouts may share.
[[nodiscard]] std::optional<SpmdProgram> lower_simplified(Program program, const Layout& layout,
                                                          OpTable ops, DiagSink& diags,
                                                          bool exact = true,
                                                          const HeldLayouts& held = {});

// Whether the layout fits a simplified program: all that may keep it from being lowered, at a small
// part of the time. Where it does not, `diags` says where.
bool fits(const Program& simplified, const Layout& layout, DiagSink& diags);

// Where its variables are.
[[nodiscard]] HeldLayouts variable_layouts(const SpmdProgram& program);

// The layout of one rank: no axes, no rules.
[[nodiscard]] Layout one_rank();

}  // namespace mtf
