#include "frontend/driver/search/searching.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "frontend/driver/hardware_option.h"
#include "frontend/driver/progress.h"
#include "frontend/report/quantity.h"
#include "frontend/report/search/layout_source.h"
#include "frontend/report/why/reason.h"
#include "ir/support/number.h"
#include "lowering/search/variables/variable_choices.h"
#include "lowering/verify/promise.h"
#include "runtime/ranks/interruption.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

constexpr double kValuesPerSecond = 140'000;  // that a common machine plans

// As if all layers had somewhat less at their peak than a few of them say, which is likely enough.
Merit likely_merit(Priced priced, const SearchGoal& goal) {
  constexpr double kNear = 0.9;
  priced.peak_bytes = static_cast<std::int64_t>(static_cast<double>(priced.peak_bytes) * kNear);
  return merit_of(priced, goal);
}

// What the rules of a candidate make use of.
Reaches reach_of(const LayoutCandidate& candidate) {
  const auto is_own = [](DimSet set) { return set != kAsRules; };
  return candidate.rest != 0                                ? Reaches::kRest
         : std::ranges::any_of(candidate.variables, is_own) ? Reaches::kVariables
                                                            : Reaches::kRules;
}

Objective objective_of(const std::string& name) {
  return name == "memory"  ? Objective::kMemory
         : name == "bytes" ? Objective::kBytes
                           : Objective::kTime;
}

// Bytes that a rank may hold; 0: any number.
double memory_of(const SearchOptions& asked, const Pricer& pricer) {
  return asked.memory > 0 ? static_cast<double>(asked.memory) : pricer.hardware(0).capacity;
}

PricerOptions pricing(const Workspace& workspace, SearchedProgram& program,
                      const std::function<Hardware(Hardware)>& changed) {
  PricerOptions options{.ops = op_table(),
                        .exact = !workspace.options.fast,
                        .hardware =
                            [&program, changed](const Mesh& mesh) {
                              const Hardware hardware = program.hardware(mesh);
                              return changed ? changed(hardware) : hardware;
                            },
                        .refuses = {}};
  if (program.expects()) {
    options.refuses = [&program](std::size_t entry, const SpmdProgram& plan) {
      return refusal(program, entry, plan);
    };
  }
  return options;
}

// With the links that tell axes apart; an `expect` may name them.
SpaceLimits limits_of(SearchedProgram& program) {
  static_cast<void>(program.programs(0));  // what is beside them is known once they are built
  SpaceLimits limits = program.limits();
  for (std::size_t m = 0; m < limits.meshes.size() && !program.expects(); ++m) {
    limits.near_ranks.push_back(program.hardware(limits.meshes[m]).near_ranks);
  }
  return limits;
}

}  // namespace

Refusal refusal(const SearchedProgram& program, std::size_t entry, const SpmdProgram& plan) {
  Refusal refusal;
  for (const Expectation* clause : program.expected(entry)) {
    const double value = measured(plan, *clause);
    if (holds(value, clause->relation, clause->bound)) {
      continue;
    }
    if (refusal.why.empty()) {
      refusal.why = "`expect { " + clause->text + " }` does not hold";
    }
    refusal.beyond += std::abs(value - clause->bound) / std::max(1.0, std::abs(clause->bound));
  }
  return refusal;
}

Searching::Searching(Workspace& workspace, SearchedProgram& program, double budget,
                     const std::function<Hardware(Hardware)>& changed)
    : workspace_(workspace),
      program_(program),
      space_(program.programs(0), limits_of(program)),
      pricer_(
          space_, [&program](std::size_t mesh) { return program.programs(mesh); },
          pricing(workspace, program, changed)),
      roles_(space_, pricer_, objective_of(workspace.options.search.objective),
             memory_of(workspace.options.search, pricer_)) {
  const SearchOptions& asked = workspace.options.search;
  goal_.objective = objective_of(asked.objective);
  goal_.memory = memory_of(asked, pricer_);
  all_work_ = static_cast<std::int64_t>(budget * kValuesPerSecond);
  goal_.work = LayoutSearch::in_whole_rounds(all_work_ / 5 * 3);
}

// After each round the best so far is seen to, as if it were the last one: no round that follows
// takes back what came of it.
std::optional<LayoutCandidate> Searching::find(DiagSink& diags) {
  for (const LayoutCandidate& hint : hints_) {
    static_cast<void>(pricer_.price(hint));
  }
  LayoutSearch search(space_, pricer_, roles_, goal_, [this](std::int64_t work) {
    if (workspace_.in_session) {  // elsewhere a signal ends the process, or all ranks together
      throw_if_interrupted();
    }
    progress_at("search", std::min(work, goal_.work), goal_.work);
  });
  std::optional<LayoutCandidate> best;
  bool is_cut = false;  // for lack of work
  while (search.next_round()) {
    const Priced* before = std::exchange(result_, search.result()).best;
    if (result_.best == nullptr || (result_.best == before && !is_cut)) {
      continue;
    }
    finish(search);
    is_cut = pricer_.work() >= all_work_;
    best = best ? better_of(*best, answer_) : answer_;
  }
  if (!best) {
    diags.add(nothing_found());
    return std::nullopt;
  }
  answer_ = *best;
  return best;
}

// By the plans of the whole.
LayoutCandidate Searching::better_of(const LayoutCandidate& now, const LayoutCandidate& other) {
  const Merit merit = merit_of(pricer_.price_whole(now), goal_);
  return merit_of(pricer_.price_whole(other), goal_) < merit ? other : now;
}

// Of the best that the search has found: as few rules as do, and what is beyond it.
void Searching::finish(LayoutSearch& search) {
  all_work_ = pricer_.work() + search.done() / 3;
  answer_ = search.simplest(*result_.best, all_work_);
  constexpr int kMostRounds = 3;
  constexpr std::int64_t kForOthers = 6;  // this part of the work
  const auto is_left = [&](int round) { return round == 0 || pricer_.work() < all_work_; };
  for (int round = 0; round < kMostRounds && is_left(round) && improve(); ++round) {
    answer_ = search.simplest(pricer_.price(answer_), all_work_);
  }
  answer_ = VariableChoices(space_, pricer_, goal_, all_work_).improve(answer_);
  take_better(pricer_.work() + search.done() / kForOthers);
  close();
}

// Of what stands beside the answer, by the plans of the whole.
void Searching::take_better(std::int64_t most) {
  for (const Priced* other : some_of_front()) {
    if (pricer_.work() < most &&
        VariableChoices::pays(pricer_.price_whole(other->candidate), whole(), goal_)) {
      answer_ = other->candidate;
    }
  }
}

bool Searching::improve() {
  constexpr std::size_t kMost = 3;
  for (std::size_t d = 0; d < space_.dims().size(); ++d) {
    static_cast<void>(runner_up(d));
  }
  const Merit here = merit_of(pricer_.price_whole(answer_), goal_);
  take_best_of(likeliest(
      [&](const Priced& priced) { return merit_of(pricer_.least_whole(priced), goal_) < here; },
      kMost));
  return merit_of(pricer_.price_whole(answer_), goal_) < here;
}

std::vector<LayoutCandidate> Searching::likeliest(const IsSuch& is_such, std::size_t most) {
  std::vector<std::pair<Merit, LayoutCandidate>> all;
  for (const auto& [candidate, priced] : pricer_.known()) {
    if (is_such(priced)) {
      all.emplace_back(likely_merit(priced, goal_), candidate);
    }
  }
  const std::size_t count = std::min(all.size(), most);
  std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(count),
                            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<LayoutCandidate> candidates;
  for (std::size_t i = 0; i < count; ++i) {
    candidates.push_back(std::move(all[i].second));
  }
  return candidates;
}

std::vector<LayoutCandidate> Searching::open(Reaches reaches) {
  const Merit here = merit_of(whole(), goal_);
  const auto is_open = [&](const Priced& priced) {
    const LayoutCandidate& candidate = priced.candidate;
    if (!candidate.groups.empty() || reach_of(candidate) > reaches) {
      return false;
    }
    const Merit least = merit_of(pricer_.least_whole(priced), goal_);
    return least.fits() && (!here.fits() || least.value < here.value) &&
           (goal_.memory <= 0 || roles_.least(roles_.whole(candidate)).bytes <= goal_.memory);
  };
  return likeliest(is_open, pricer_.known().size());
}

void Searching::close() {
  if (result_.proven) {
    take_best_of(open(*result_.proven));
  }
}

void Searching::take_best_of(const std::vector<LayoutCandidate>& candidates) {
  for (const LayoutCandidate& candidate : candidates) {
    if (pricer_.work() >= all_work_) {
      break;
    }
    answer_ = better_of(answer_, candidate);
  }
}

std::string Searching::place_text(const LayoutCandidate& candidate, std::size_t dim) const {
  const Mesh& mesh = space_.meshes()[candidate.mesh];
  std::string text = to_string(mesh, candidate.rules[dim]);
  const std::vector<Rule>& fixed = space_.limits().fixed.rules;
  const auto own = std::ranges::find(fixed, space_.dims()[dim], &Rule::dim);
  if (has(candidate.rest, dim) || (own != fixed.end() && own->rest)) {
    text += text.empty() ? "*" : ", *";
  }
  const bool follows = candidate.infer && !has(candidate.whole, dim);
  return !text.empty() ? text : follows ? "follows" : "whole";
}

LayoutCandidate Searching::moved(std::size_t dim, const Axes& axes) const {
  LayoutCandidate other = answer_;
  other.rules[dim] = axes;
  other.whole &= ~only(dim);
  other.whole |= other.infer && axes.empty() ? only(dim) : 0;
  for (std::size_t d = 0; d < space_.dims().size(); ++d) {
    if (d != dim && !space_.is_fixed(d)) {
      erase_if(other.rules[d], [&](AxisId axis) {
        return has(axes, axis) && has(space_.apart(dim, other, axis), d);
      });
    }
  }
  return other;
}

// The answer with the dim over other axes. What would cost least by its roles goes first.
std::vector<Searching::Elsewhere> Searching::elsewhere(std::size_t dim) {
  std::vector<Elsewhere> others;
  std::set<LayoutCandidate> seen;  // those with axes that are alike in other places cost the same
  const Axes& here = answer_.rules[dim];
  for (const Axes& axes : space_.choices(answer_.mesh, dim)) {
    if (pricer_.work() >= all_work_) {
      break;
    }
    LayoutCandidate other = moved(dim, axes);
    const bool is_same = axes.size() == here.size() && other.whole == answer_.whole &&
                         std::ranges::all_of(axes, [&](AxisId axis) { return has(here, axis); });
    pricer_.add_looks(1);
    if (!is_same && space_.is_consistent(other) && seen.insert(space_.canonical(other)).second) {
      const RoleBound::Least least = roles_.least(roles_.whole(other));
      others.emplace_back(least, std::move(other));
    }
  }
  std::ranges::stable_sort(others, {}, [](const Elsewhere& one) { return one.first.value; });
  return others;
}

bool Searching::may_beat(const RoleBound::Least& least, const Priced& other) const {
  if (!merit_of(other, goal_).fits()) {
    return least.bytes < static_cast<double>(other.peak_bytes);
  }
  return least.value < value_of(other, goal_.objective) &&
         (goal_.memory <= 0 || least.bytes <= goal_.memory);
}

// The cheapest of these; null: there is none, or no work is left to look. What cannot be it is not
// planned.
const Priced* Searching::runner_up(std::size_t dim) {
  const Priced* next = nullptr;
  for (const auto& [least, other] : elsewhere(dim)) {
    const bool is_left = pricer_.work() >= all_work_ && !pricer_.knows(other);
    if (is_left || (next != nullptr && !may_beat(least, *next))) {
      continue;
    }
    const Priced& priced = pricer_.price(other);
    const bool is_better = next == nullptr || merit_of(priced, goal_) < merit_of(*next, goal_);
    next = priced.is_legal && is_better ? &priced : next;
  }
  return next;
}

std::string Searching::refusal_elsewhere(std::size_t dim) {
  const Priced* nearest = nullptr;
  for (const auto& [least, other] : elsewhere(dim)) {
    const Priced* priced = pricer_.knows(other) ? &pricer_.price(other) : nullptr;
    const bool is_refused = priced != nullptr && !priced->is_legal && std::isfinite(priced->beyond);
    if (is_refused && (nearest == nullptr || priced->beyond < nearest->beyond)) {
      nearest = priced;
    }
  }
  return nearest == nullptr
             ? ""
             : nearest->obstacle + " with " + in_backticks(place_text(nearest->candidate, dim));
}

}  // namespace mtf
