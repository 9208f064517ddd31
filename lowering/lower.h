// From a global program and a layout to the SPMD program.

#pragma once

#include <optional>

#include "lowering/layout/targets.h"
#include "lowering/plan_cache.h"
#include "lowering/spmd.h"

namespace mtf {

// Simplifies, gives every value its layout, partitions each operation, joins element-wise chains,
// plans memory and adds up the totals. nullopt: the layout does not fit, and `diags` says where.
// Without `exact`, sums of any partial sums stay partial: fewer all-reduces, other bits.
// `held`: variables that are in a layout already.
[[nodiscard]] std::optional<SpmdProgram> lower(const Program& program, const Layout& layout,
                                               OpTable ops, DiagSink& diags, bool exact = true,
                                               const HeldLayouts& held = {});

struct LowerOptions {
  bool exact = true;
  // For its price, its memory and its totals, which are as always: without reasons, next best
  // splits and names that are each on one value only; and nobody verifies it, so it is not to run.
  bool price_only = false;
  bool named = false;                 // with `price_only`: with such names all the same
  bool packs = true;                  // short all-reduces, into buckets
  bool rough_peak = false;            // with `price_only`: without the gaps between places
  const HeldLayouts* held = nullptr;  // null: none
  PlanCache* cache = nullptr;  // what lowerings before it found, of any program; null: nothing
};

// The same of a program that `simplify` has been through, which several layouts may share.
[[nodiscard]] std::optional<SpmdProgram> lower_simplified(Program program, const Layout& layout,
                                                          OpTable ops, DiagSink& diags,
                                                          const LowerOptions& options = {});

// Whether the layout fits a simplified program: all that may keep it from being lowered, at a small
// part of the time. Where it does not, `diags` says where.
bool fits(const Program& simplified, const Layout& layout, DiagSink& diags);

// Where its variables are.
[[nodiscard]] HeldLayouts variable_layouts(const SpmdProgram& program);
// Where those of a simplified program would be; of none where the layout does not fit.
[[nodiscard]] HeldLayouts variable_layouts(const Program& simplified, const Layout& layout,
                                           const HeldLayouts& held);

// The layout of one rank: no axes, no rules.
[[nodiscard]] Layout one_rank();

}  // namespace mtf
