#include "lowering/lower.h"

#include <cassert>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "ir/countable.h"
#include "ir/rewrite/rewrite.h"
#include "lowering/loops/loops.h"
#include "lowering/memory/schedule.h"
#include "lowering/partition/partition.h"
#include "lowering/price/totals.h"
#include "lowering/steps/bucket.h"
#include "lowering/steps/fuse.h"
#include "lowering/steps/rematerialize.h"
#include "lowering/steps/stream.h"
#include "lowering/steps/working_copies.h"

namespace mtf {
namespace {

constexpr std::int64_t kWorthIt = 8;  // such a part more memory, for some hundredths of the time

// The user's names, each on one value only: a second `h` is `h.2`.
void name_values(SpmdProgram& program) {
  std::unordered_map<std::string, int> uses;
  for (SpmdValue& value : program.values) {
    if (value.name.empty()) {
      continue;
    }
    if (const int use = ++uses[value.name]; use > 1) {
      value.name += "." + std::to_string(use);
    }
  }
}

// With working copies, unless they take much more memory at the peak than casts in each run, which
// may be gone by then. A rough peak is not enough to tell.
void find_places(SpmdProgram& program, bool rough) {
  if (rough) {
    keep_working_copies(program);
    return schedule(program, rough);
  }
  schedule(program);
  if (!casts_updated(program)) {
    return;
  }
  SpmdProgram with = program;
  if (keep_working_copies(with)) {
    schedule(with);
    if (with.totals.peak_bytes - program.totals.peak_bytes <=
        program.totals.peak_bytes / kWorthIt) {
      program = std::move(with);
    }
  }
}

std::optional<std::vector<SharedTarget>> fitting_targets(const Program& program,
                                                         const Layout& layout,
                                                         const HeldLayouts& held, DiagSink& diags) {
  return check_countable(program, diags) ? targets_of(program, layout, held, diags) : std::nullopt;
}

}  // namespace

Layout one_rank() {
  return {};
}

std::optional<SpmdProgram> lower(const Program& program, const Layout& layout, OpTable ops,
                                 DiagSink& diags, bool exact, const HeldLayouts& held) {
  return lower_simplified(simplify(program, ops), layout, ops, diags,
                          {.exact = exact, .held = &held});
}

std::optional<SpmdProgram> lower_simplified(Program program, const Layout& layout, OpTable ops,
                                            DiagSink& diags, const LowerOptions& options) {
  SpmdProgram out;
  out.source = std::move(program);
  if (!layout.recompute && recomputes(out.source)) {
    keep_recomputed(out.source);
  }
  out.mesh = layout.mesh;
  out.layout = layout.name;
  std::optional<std::vector<SharedTarget>> targets = fitting_targets(
      out.source, layout, options.held == nullptr ? HeldLayouts() : *options.held, diags);
  if (!targets) {
    return std::nullopt;
  }
  out.targets = *std::move(targets);
  out.values.reserve(out.source.values.size() + out.source.values.size() / 2);
  PlanCache own;
  PlanCache& cache = options.cache == nullptr ? own : *options.cache;
  partition(out, op_of(ops, Algebra::kSum), layout.gather_again,
            cache.of(out.mesh, {.exact = options.exact, .price_only = options.price_only}));
  hoist(out, layout.gather_again);
  assert(verify(out).empty());
  fuse(out);
  rematerialize(out);
  assert(verify(out).empty());
  if (options.packs) {
    bucket(out);
  }
  stream(out, layout.stream, options.exact);
  if (!options.price_only || options.named) {
    name_values(out);
  }
  find_places(out, options.rough_peak);
  add_up(out);
  if (const std::string problem = options.price_only ? "" : verify(out); !problem.empty()) {
    // A plan that verify refuses would run to wrong numbers, so no build goes on with it.
    throw std::logic_error("the plan of " + out.source.name + " is wrong: " + problem);
  }
  return out;
}

bool fits(const Program& simplified, const Layout& layout, DiagSink& diags) {
  return fitting_targets(simplified, layout, {}, diags).has_value();
}

HeldLayouts variable_layouts(const SpmdProgram& program) {
  HeldLayouts layouts;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    if (program.source.inputs[i].is_variable()) {
      layouts.emplace(program.source.inputs[i].name, program.at(program.inputs[i]).layout);
    }
  }
  return layouts;
}

HeldLayouts variable_layouts(const Program& simplified, const Layout& layout,
                             const HeldLayouts& held) {
  if (!layout.recompute && recomputes(simplified)) {  // what copies read is inferred from them, too
    Program kept = simplified;
    keep_recomputed(kept);
    return variable_layouts(kept, layout, held);
  }
  HeldLayouts layouts;
  DiagSink unfit;
  const auto targets = fitting_targets(simplified, layout, held, unfit);
  for (const Input& input : simplified.inputs) {
    if (targets && input.is_variable()) {
      layouts.emplace(input.name, (*targets)[at(input.value)]->layout);
    }
  }
  return layouts;
}

}  // namespace mtf
