#include "lowering/search/variables/variable_choices.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace mtf {
namespace {

// The candidate with one axis of a group on other dims.
LayoutCandidate with_group(LayoutCandidate candidate, std::size_t group, std::size_t axis,
                           DimSet dims) {
  auto place = candidate.groups.begin();
  while (place != candidate.groups.end() && place->group < group) {
    ++place;
  }
  if (place == candidate.groups.end() || place->group != group) {
    const std::vector<DimSet> as_rules(candidate.variables.size(), kAsRules);
    place = candidate.groups.insert(place, {.group = group, .axes = as_rules});
  }
  place->axes[axis] = dims;
  std::erase_if(candidate.groups, [](const GroupAxes& own) {
    return std::ranges::all_of(own.axes, [](DimSet of_axis) { return of_axis == kAsRules; });
  });
  return candidate;
}

// No dims, those of all variables, or one of its own.
std::vector<DimSet> choices_of(const SearchSpace::Group& group, std::size_t dims) {
  std::vector<DimSet> choices = {kAsRules, 0};
  for (std::size_t d = 0; d < dims; ++d) {
    if (has(group.dims, d)) {
      choices.push_back(only(d));
    }
  }
  return choices;
}

}  // namespace

bool VariableChoices::pays(const Priced& other, const Priced& now, const SearchGoal& goal) {
  constexpr double kWorth = 0.995;
  const Merit theirs = merit_of(other, goal);
  const Merit ours = merit_of(now, goal);
  const bool is_smaller = theirs.excess < ours.excess && theirs.excess <= ours.excess * kWorth;
  const bool is_better = theirs.excess <= ours.excess && theirs.value < ours.value &&
                         theirs.value <= ours.value * kWorth;
  return theirs.is_legal && (is_smaller || is_better);
}

bool VariableChoices::may_plan(const LayoutCandidate& candidate) const {
  return (pricer_.work() < most_ || pricer_.knows(candidate)) && space_.is_consistent(candidate);
}

std::vector<VariableChoices::Change> VariableChoices::all_changes(
    const LayoutCandidate& from) const {
  const Mesh& mesh = space_.meshes()[from.mesh];
  std::vector<Change> result;
  for (std::size_t g = 0; g < space_.groups().size(); ++g) {
    const std::vector<DimSet> choices = choices_of(space_.groups()[g], space_.dims().size());
    for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
      for (const DimSet dims : choices) {
        if (mesh.axes[a].size > 1 && with_group(from, g, a, dims) != from) {
          result.push_back({.group = g, .axis = a, .dims = dims});
        }
      }
    }
  }
  return result;
}

// The legal ones. Some work is left for what they make together.
std::vector<VariableChoices::Change> VariableChoices::priced_changes(const LayoutCandidate& from) {
  const Priced here = pricer_.price(from);
  const std::int64_t most = pricer_.work() + (most_ - pricer_.work()) / 4 * 3;
  std::vector<Change> result;
  for (Change change : all_changes(from)) {
    const LayoutCandidate other = with_group(from, change.group, change.axis, change.dims);
    if (pricer_.work() >= most || !may_plan(other)) {
      continue;
    }
    if (const Priced& priced = pricer_.price(other); priced.is_legal) {
      change.value = value_of(priced, goal_.objective) - value_of(here, goal_.objective);
      change.bytes = static_cast<double>(priced.peak_bytes - here.peak_bytes);
      result.push_back(change);
    }
  }
  return result;
}

LayoutCandidate VariableChoices::changed(LayoutCandidate from, const std::vector<Change>& changes,
                                         const std::vector<std::size_t>& taken) {
  for (const std::size_t i : taken) {
    from = with_group(std::move(from), changes[i].group, changes[i].axis, changes[i].dims);
  }
  return from;
}

// An axis of a tensor changes once.
std::set<std::vector<std::size_t>> VariableChoices::rivals(
    const std::vector<Change>& changes) const {
  std::map<std::tuple<bool, std::size_t, std::size_t>, std::vector<std::size_t>> of_axes;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const SearchSpace::Group& group = space_.groups()[changes[i].group];
    for (const std::size_t member : group.members) {
      of_axes[{group.lets, member, changes[i].axis}].push_back(i);
    }
  }
  std::set<std::vector<std::size_t>> result;
  for (auto& [place, choices] : of_axes) {
    result.insert(std::move(choices));
  }
  return result;
}

// Changes of a group, of other axes, that do not go together exclude each other. A rule is not
// worth what it saves, if that is next to nothing.
IntegerProgram VariableChoices::program(const LayoutCandidate& from,
                                        const std::vector<Change>& changes) const {
  constexpr double kOfRule = 1e-4;
  const double rule = kOfRule * value_of(pricer_.price(from), goal_.objective);
  IntegerProgram result;
  for (const std::vector<std::size_t>& choices : rivals(changes)) {
    result.rows.emplace_back();
    for (const std::size_t choice : choices) {
      result.rows.back().terms.push_back({.choice = choice});
    }
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    result.costs.push_back(changes[i].value + rule);
    for (std::size_t j = 0; j < i; ++j) {
      const bool may_clash =
          changes[j].group == changes[i].group && changes[j].axis != changes[i].axis;
      if (may_clash && !space_.is_consistent(changed(from, changes, {j, i}))) {
        result.rows.push_back({.terms = {{.choice = j}, {.choice = i}}});
      }
    }
  }
  return result;
}

std::vector<std::size_t> VariableChoices::taken(const LayoutCandidate& from,
                                                const std::vector<Change>& changes,
                                                double bytes) const {
  IntegerProgram program = this->program(from, changes);
  IntegerProgram::Row memory{.terms = {}, .most = bytes};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    memory.terms.push_back({.choice = i, .weight = changes[i].bytes});
  }
  if (goal_.memory <= 0) {
    return solve(program).value_or(std::vector<std::size_t>());
  }
  program.rows.push_back(std::move(memory));
  if (std::optional<std::vector<std::size_t>> within = solve(program)) {
    return *std::move(within);
  }
  program.rows.pop_back();
  std::ranges::transform(changes, program.costs.begin(), &Change::bytes);
  return solve(program).value_or(std::vector<std::size_t>());
}

// Of the changes those that are best together, if each added what it adds alone. They do not quite:
// what comes out is planned, and where it takes more memory than was reckoned, less is allowed.
LayoutCandidate VariableChoices::best_together(const LayoutCandidate& from) {
  constexpr int kMostTries = 4;
  const std::vector<Change> changes = priced_changes(from);
  LayoutCandidate best = from;
  double bytes = goal_.memory - static_cast<double>(pricer_.price(from).peak_bytes);
  for (int i = 0; i < kMostTries; ++i) {
    const LayoutCandidate together = changed(from, changes, taken(from, changes, bytes));
    if (!may_plan(together)) {
      break;
    }
    const Priced& priced = pricer_.price(together);
    best = pays(priced, pricer_.price(best), goal_) ? together : best;
    if (!priced.is_legal || merit_of(priced, goal_).excess == 0) {
      break;
    }
    bytes -= merit_of(priced, goal_).excess;
  }
  return best;
}

// One change after the other that pays: what changes do to each other is in their prices.
LayoutCandidate VariableChoices::best_one_by_one(LayoutCandidate from) {
  for (const Change& change : all_changes(from)) {
    LayoutCandidate other = with_group(from, change.group, change.axis, change.dims);
    if (other != from && may_plan(other) &&
        pays(pricer_.price(other), pricer_.price(from), goal_)) {
      from = std::move(other);
    }
  }
  return from;
}

// The answer; as it is with all variables where the rules of dims put them; and what is fastest of
// all, for which the memory may be too small by some variables only.
std::vector<LayoutCandidate> VariableChoices::starts(const LayoutCandidate& answer) const {
  std::vector<LayoutCandidate> result = {answer};
  const auto add = [&result](LayoutCandidate other) {
    if (std::ranges::find(result, other) == result.end()) {
      result.push_back(std::move(other));
    }
  };
  LayoutCandidate plain = answer;
  std::ranges::fill(plain.variables, kAsRules);
  plain.groups.clear();
  add(std::move(plain));
  const std::vector<const Priced*> front = pareto_front(pricer_);
  if (!front.empty() && goal_.objective == Objective::kTime) {
    add(front.front()->candidate);
  }
  return result;
}

LayoutCandidate VariableChoices::improved(LayoutCandidate from) {
  constexpr int kMostPasses = 3;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    LayoutCandidate next = best_one_by_one(has_integer_solver() ? best_together(from) : from);
    if (next == from) {
      break;
    }
    from = std::move(next);
  }
  return from;
}

LayoutCandidate VariableChoices::improve(const LayoutCandidate& answer) {
  const std::int64_t all = most_;
  const std::vector<LayoutCandidate> starts = this->starts(answer);
  LayoutCandidate best = answer;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    most_ = pricer_.work() + (all - pricer_.work()) / static_cast<std::int64_t>(starts.size() - i);
    if (!may_plan(starts[i])) {
      continue;
    }
    LayoutCandidate other = improved(starts[i]);
    if (pays(pricer_.price(other), pricer_.price(best), goal_)) {
      best = std::move(other);
    }
  }
  return pays(pricer_.price_whole(best), pricer_.price_whole(answer), goal_) ? best : answer;
}

}  // namespace mtf
