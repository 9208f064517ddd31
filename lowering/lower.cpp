#include "lowering/lower.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "ir/rewrite.h"
#include "lowering/fuse.h"
#include "lowering/memory.h"
#include "lowering/partition.h"

namespace mtf {
namespace {

// The layout of every value by the rules. A tensor that shows an illegal layout is reported where
// it is made, each kind of conflict once.
std::optional<std::vector<ValueLayout>> targets_of(const Program& program, const Layout& layout,
                                                   DiagSink& diags) {
  std::vector<ValueLayout> targets(program.values.size());
  std::set<std::pair<DiagKind, std::vector<std::string>>> seen;
  bool ok = true;
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const ValueId id{static_cast<std::int32_t>(i)};
    const Value& value = program.at(id);
    if (value.op != nullptr && value.op->effect) {
      continue;
    }
    if (value.internal) {
      targets[i] = layout_that_fits(value.type.shape, layout);
      continue;
    }
    DiagSink found;
    std::optional<ValueLayout> target =
        layout_by_rules(value.type.shape, layout, value.span, describe(program, id), found);
    if (target) {
      targets[i] = *std::move(target);
      continue;
    }
    ok = false;
    for (Diag diag : found.diags()) {
      std::vector<std::string> dims;
      for (const Rule& rule : layout.rules) {
        if (const Dim* dim = value.type.shape.find(rule.dim); dim != nullptr) {
          dims.push_back(dim->name + " " + std::to_string(dim->size));
        }
      }
      if (seen.emplace(diag.kind, dims).second) {
        std::ranges::move(notes_of(program, id), std::back_inserter(diag.notes));
        diags.add(std::move(diag));
      }
    }
  }
  return ok ? std::optional(std::move(targets)) : std::nullopt;
}

// The user's names, each on one value only: a second `h` is `h.2`.
void name_values(SpmdProgram& program) {
  std::map<std::string, int> uses;
  for (SpmdValue& value : program.values) {
    if (value.name.empty()) {
      continue;
    }
    const int use = ++uses[value.name];
    if (use > 1) {
      value.name += "." + std::to_string(use);
    }
  }
}

void add_up(SpmdProgram& program) {
  Totals& totals = program.totals;
  for (const Step& step : program.steps) {
    totals.flops += step.flops;
    if (step.kind == StepKind::kKernel || step.kind == StepKind::kSlice) {
      continue;
    }
    Axes axes = step.axes;
    std::ranges::sort(axes);
    const auto same = [&](const CollectiveTotal& total) {
      return total.kind == step.kind && total.axes == axes;
    };
    auto total = std::ranges::find_if(totals.collectives, same);
    if (total == totals.collectives.end()) {
      totals.collectives.push_back({.kind = step.kind, .axes = axes});
      total = std::prev(totals.collectives.end());
    }
    ++total->calls;
    total->elements += step.elements;
    total->received += step.received;
    total->bytes += step.bytes;
  }
  std::ranges::sort(totals.collectives, {},
                    [](const CollectiveTotal& total) { return std::tie(total.kind, total.axes); });
  for (const Input& input : program.source.inputs) {
    if (input.kind == InputKind::kParam) {
      totals.parameters += program.source.at(input.value).type.shape.volume();
    }
  }
}

}  // namespace

Layout one_rank() {
  return {};
}

std::optional<SpmdProgram> lower(const Program& program, const Layout& layout, OpTable ops,
                                 DiagSink& diags, bool exact) {
  SpmdProgram out;
  out.source = simplify(program, ops);
  out.mesh = layout.mesh;
  out.layout = layout.name;
  const std::optional<std::vector<ValueLayout>> targets = targets_of(out.source, layout, diags);
  if (!targets) {
    return std::nullopt;
  }
  partition(out, layout, *targets, exact);
  fuse(out);
  name_values(out);
  plan_memory(out);
  add_up(out);
  assert(verify(out).empty());
  return out;
}

}  // namespace mtf
