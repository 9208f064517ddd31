// Both plans come from one program, so a value has the same number in both: its collectives are
// compared with each other.

#include "frontend/report/cost/layout_diff.h"

#include <algorithm>
#include <map>
#include <utility>

#include "frontend/report/plan/step_line.h"
#include "frontend/report/plan/step_text.h"
#include "frontend/report/why/reason.h"

namespace mtf {
namespace {

// By the value that they make, in the order of the plan.
using Collectives = std::map<std::int32_t, std::vector<PlannedCollective>>;

std::vector<std::string> names_of(const Mesh& mesh, const Axes& axes) {
  std::vector<std::string> names;
  for (const AxisId axis : axes) {
    names.push_back(mesh.axes[axis].name);
  }
  return names;
}

Collectives collectives_of(const SpmdProgram& program, const SourceMap& sources) {
  const ValueNames names(program);
  const Reasons reasons(program);
  Collectives result;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    if (!is_collective(step.kind)) {
      continue;
    }
    result[program.at(step.to).origin.index].push_back({.kind = step.kind,
                                                        .axes = names_of(program.mesh, step.axes),
                                                        .elements = step.elements,
                                                        .received = step.received,
                                                        .bytes = step.bytes,
                                                        .value = names.of(step.to),
                                                        .span = span_of(program, step),
                                                        .why = reasons.of(s, sources)});
  }
  return result;
}

bool same(const PlannedCollective& a, const PlannedCollective& b) {
  return a.kind == b.kind && a.axes == b.axes && a.elements == b.elements &&
         a.received == b.received;
}

// But for the values' names, and where in the plan they are.
bool alike(const std::optional<PlannedCollective>& a, const std::optional<PlannedCollective>& b) {
  return a.has_value() == b.has_value() &&
         (!a || (same(*a, *b) && a->span == b->span && a->why == b->why));
}

class Comparison {
 public:
  // The collectives of one value under both layouts.
  void add(std::vector<PlannedCollective> before, std::vector<PlannedCollective> after) {
    unchanged_ += pair_up(before, after, same, [](auto&, auto&) {});
    const auto change = [this](PlannedCollective& a, PlannedCollective& b) {
      add_change({.before = std::move(a), .after = std::move(b)});
    };
    pair_up(
        before, after,
        [](const PlannedCollective& a, const PlannedCollective& b) { return a.kind == b.kind; },
        change);
    for (PlannedCollective& one : before) {
      add_change({.before = std::move(one), .after = std::nullopt});
    }
    for (PlannedCollective& one : after) {
      add_change({.before = std::nullopt, .after = std::move(one)});
    }
  }

  void finish(LayoutDiff& diff) && {
    diff.collectives = std::move(changes_);
    diff.unchanged = unchanged_;
  }

 private:
  // Takes pairs out of both lists.
  template <typename Match, typename Use>
  static std::int64_t pair_up(std::vector<PlannedCollective>& before,
                              std::vector<PlannedCollective>& after, Match match, Use use) {
    std::int64_t pairs = 0;
    for (auto a = before.begin(); a != before.end();) {
      const auto b = std::ranges::find_if(
          after, [&](const PlannedCollective& other) { return match(*a, other); });
      if (b == after.end()) {
        ++a;
        continue;
      }
      use(*a, *b);
      after.erase(b);
      a = before.erase(a);
      ++pairs;
    }
    return pairs;
  }

  void add_change(CollectiveChange change) {
    const auto known = std::ranges::find_if(changes_, [&](const CollectiveChange& other) {
      return alike(other.before, change.before) && alike(other.after, change.after);
    });
    if (known != changes_.end()) {
      ++known->count;
    } else {
      changes_.push_back(std::move(change));
    }
  }

  std::vector<CollectiveChange> changes_;
  std::int64_t unchanged_ = 0;
};

struct Rest {
  std::string layout;
  std::int64_t bytes = 0;
};

std::map<std::string, Rest> variables_of(const SpmdProgram& program) {
  std::map<std::string, Rest> result;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const Input& input = program.source.inputs[i];
    const SpmdValue& value = program.at(program.inputs[i]);
    if (input.is_variable()) {
      result[input.name] = {.layout = to_string(value.type.shape, value.layout, program.mesh),
                            .bytes = value.local.bytes()};
    }
  }
  return result;
}

}  // namespace

LayoutDiff diff_of(std::shared_ptr<const Cost> before, std::shared_ptr<const Cost> after,
                   const SourceMap& sources) {
  LayoutDiff diff{.entry = before->program.source.name,
                  .before = std::move(before),
                  .after = std::move(after),
                  .collectives = {},
                  .variables = {}};
  Collectives old_ones = collectives_of(diff.before->program, sources);
  Collectives new_ones = collectives_of(diff.after->program, sources);
  for (const auto& [value, list] : old_ones) {
    new_ones.try_emplace(value);
  }
  Comparison comparison;
  for (auto& [value, list] : new_ones) {
    comparison.add(std::move(old_ones[value]), std::move(list));
  }
  std::move(comparison).finish(diff);
  const std::map<std::string, Rest> rest = variables_of(diff.after->program);
  for (const auto& [name, there] : variables_of(diff.before->program)) {
    const auto here = rest.find(name);
    if (here != rest.end() &&
        (here->second.layout != there.layout || here->second.bytes != there.bytes)) {
      diff.variables.push_back({.name = name,
                                .before = there.layout,
                                .after = here->second.layout,
                                .bytes_before = there.bytes,
                                .bytes_after = here->second.bytes});
    }
  }
  return diff;
}

}  // namespace mtf
