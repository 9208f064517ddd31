#include "lowering/search/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

namespace mtf {
namespace {

// To ten digits: what is added up in another order is the same.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) {
    return value;
  }
  const double scale = std::pow(10.0, 9 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

std::int64_t rules_in(const LayoutCandidate& candidate) {
  std::int64_t count = candidate.again ? 1 : 0;
  count += candidate.stream > 1 ? 1 : 0;
  count += candidate.recompute ? 0 : 1;
  constexpr std::int64_t kFollowing = 100;  // what says where everything is goes before
  count += candidate.infer ? kFollowing + __builtin_popcountll(candidate.whole) : 0;
  for (const Axes& axes : candidate.rules) {
    count += std::ssize(axes);
  }
  for (const DimSet set : candidate.variables) {
    count += set == kAsRules ? 0 : __builtin_popcountll(set);
  }
  count += std::ssize(candidate.groups) + std::ssize(candidate.rest_first);
  return count + std::int64_t{3} * __builtin_popcountll(candidate.rest);
}

}  // namespace

bool operator<(const Merit& a, const Merit& b) {
  const auto all = [](const Merit& m) {
    return std::tuple(!m.is_legal, m.excess, m.value, m.second, m.axes.size(), m.axes, m.rules);
  };
  return all(a) < all(b);
}

double value_of(const Priced& priced, Objective objective) {
  return objective == Objective::kTime     ? priced.seconds
         : objective == Objective::kMemory ? static_cast<double>(priced.peak_bytes)
                                           : static_cast<double>(priced.received_bytes);
}

Merit merit_of(const Priced& priced, const SearchGoal& goal) {
  const auto peak = static_cast<double>(priced.peak_bytes);
  return {.is_legal = priced.is_legal,
          .excess = goal.memory > 0 ? std::max(0.0, peak - goal.memory) : 0,
          .value = rounded(value_of(priced, goal.objective)),
          .second = rounded(goal.objective == Objective::kTime ? peak : priced.seconds),
          .axes = priced.axes,
          .rules = rules_in(priced.candidate)};
}

LayoutSearch::LayoutSearch(const SearchSpace& space, Pricer& pricer, Roles& roles, SearchGoal goal,
                           Told told)
    : space_(space),
      pricer_(pricer),
      roles_(roles),
      goal_(goal),
      told_(std::move(told)),
      others_(pricer.work()),
      seen_(pricer.work()) {
  for (std::size_t m = 0; m < space.meshes().size(); ++m) {
    sets_.emplace_back();
    variable_sets_.emplace_back();
    for (std::size_t a = 0; a < space.axes(); ++a) {
      const bool splits = space.meshes()[m].axes[a].size > 1;
      const auto axis = static_cast<AxisId>(a);
      sets_.back().push_back(splits ? space.sets(m, axis) : std::vector<DimSet>{0});
      variable_sets_.back().push_back(splits && space.may_vary_variables()
                                          ? space.variable_sets(m, axis)
                                          : std::vector<DimSet>());
    }
  }
}

SearchResult LayoutSearch::run() {
  while (next_round()) {
  }
  return result_;
}

// Each has twice the work of the one before it.
bool LayoutSearch::next_round() {
  constexpr int kIdle = 60;
  if (round_ > 0 && (round_ >= goal_.work || is_settled())) {
    return false;
  }
  others_ += pricer_.work() - seen_;
  if (round_ == 0) {
    starts_ = by_guess(starts(most_even_mesh()));
  }
  round_ = std::max(2 * round_, kFirstRound);
  const std::int64_t before = std::min(work(), round_);
  start_locally(before + (round_ - before) / 4 * 3);
  result_.is_proven = prove();
  if (!is_settled()) {
    start_by_price(round_);
    shake(round_, kIdle);
  }
  seen_ = pricer_.work();
  return true;
}

// Where it is shown that nothing fits, what needs least is still to be found.
bool LayoutSearch::is_settled() const {
  return result_.is_proven && (result_.best == nullptr || merit_of(*result_.best, goal_).fits());
}

std::int64_t LayoutSearch::in_whole_rounds(std::int64_t work) {
  std::int64_t rounds = std::min(work, kFirstRound);
  while (rounds >= kFirstRound && 2 * rounds <= work) {
    rounds *= 2;
  }
  return rounds;
}

// That nothing is better than the best; false: the work that there may be is done before.
bool LayoutSearch::prove() {
  const Reaches all = space_.limits().rest          ? Reaches::kRest
                      : space_.may_vary_variables() ? Reaches::kVariables
                                                    : Reaches::kRules;
  constexpr std::array kAll = {Reaches::kRules, Reaches::kVariables, Reaches::kRest};
  return std::ranges::all_of(kAll, [&](Reaches reaches) {
    const bool adds = reaches != Reaches::kVariables || space_.may_vary_variables();
    return reaches > all || !adds || branch(reaches, reaches == all) || reaches != all;
  });
}

bool LayoutSearch::is_better(const Priced& a, const Priced* b) const {
  if (b == nullptr) {
    return true;
  }
  const Merit x = merit_of(a, goal_);
  const Merit y = merit_of(*b, goal_);
  return x < y || (!(y < x) && a.candidate < b->candidate);
}

const Priced& LayoutSearch::priced(const LayoutCandidate& candidate) {
  const Priced& result = pricer_.price(space_.canonical(candidate));
  if (result.is_legal && is_better(result, result_.best)) {
    result_.best = &result;
  }
  if (told_) {
    told_(pricer_.work());
  }
  return result;
}

// In pieces it takes less memory, and less time where gathers go on behind products.
bool LayoutSearch::may_stream(const Priced& priced) const {
  return pricer_.hardware(priced.candidate.mesh).overlap > 0 || !merit_of(priced, goal_).fits() ||
         goal_.objective == Objective::kMemory;
}

// The candidate, and where its plans gather, how else they may: the best of these.
const Priced* LayoutSearch::consider(const LayoutCandidate& candidate) {
  const Priced* best = &priced(candidate);
  if (!space_.limits().passes || !best->is_legal || !best->gathers) {
    return best;
  }
  // To gather again takes longer, and less memory.
  const bool fits = merit_of(*best, goal_).fits();
  const bool is_fast = goal_.objective == Objective::kTime && fits;
  const auto also = [&](std::int64_t pieces) {
    LayoutCandidate other = candidate;
    other.again = true;
    other.stream = pieces;
    const Priced& priced_other = priced(other);
    best = priced_other.is_legal && is_better(priced_other, best) ? &priced_other : best;
  };
  if (!is_fast && goal_.objective != Objective::kBytes) {
    also(1);
  }
  if (may_stream(*best)) {
    also(4);
    also(16);
  }
  return best;
}

// ---- branch and bound -------------------------------------------------------------------------

std::vector<LayoutCandidate> LayoutSearch::rule_choices(const Partial& partial) const {
  const LayoutCandidate& before = partial.candidate;
  const DimSet apart = space_.apart(partial.decided);
  const auto is_taken = [&](AxisId axis) {
    for (std::size_t d = 0; d < partial.decided; ++d) {
      if (has(apart, d) && has(before.rules[d], axis)) {
        return true;
      }
    }
    return false;
  };
  std::vector<LayoutCandidate> result;
  for (const Axes& axes : space_.choices(before.mesh, partial.decided)) {
    if (std::ranges::none_of(axes, is_taken)) {
      result.push_back(before);
      result.back().rules[partial.decided] = axes;
      if (!space_.begins_in_order(result.back())) {
        result.pop_back();
      }
    }
  }
  return result;
}

// The candidates that one more decision makes.
std::vector<LayoutCandidate> LayoutSearch::choices(const Partial& partial) const {
  const std::size_t dims = space_.dims().size();
  const LayoutCandidate& before = partial.candidate;
  if (partial.decided < dims) {
    return rule_choices(partial);
  }
  std::vector<LayoutCandidate> result = {before};
  if (partial.decided < dims + space_.axes()) {
    const std::size_t axis = partial.decided - dims;
    for (const DimSet set : variable_sets_[before.mesh][axis]) {
      result.push_back(before);
      result.back().variables[axis] = set;
    }
    return result;
  }
  const std::size_t dim = partial.decided - dims - space_.axes();
  if (!space_.is_fixed(dim)) {
    result.push_back(before);
    result.back().rest |= only(dim);  // in whatever order
  }
  return result;
}

// Whether nothing with such a bound is better than the answer.
bool LayoutSearch::is_closed(double least) const {
  return result_.best != nullptr && merit_of(*result_.best, goal_).fits() &&
         least >= value_of(*result_.best, goal_.objective);
}

struct LayoutSearch::Node {
  double least = 0;
  Partial partial;
  std::int64_t number = 0;
};

// Of equals, the one with most decisions made goes first.
struct LayoutSearch::Later {
  bool operator()(const Node& a, const Node& b) const {
    return std::tuple(a.least, b.partial.decided, a.number) >
           std::tuple(b.least, a.partial.decided, b.number);
  }
};

void LayoutSearch::add_open(Open& open, Partial partial) {
  ++result_.bounded;
  const RoleBound::Least least = roles_.least(partial);
  const bool fits = goal_.memory <= 0 || least.bytes <= goal_.memory;
  if (fits && !is_closed(least.value)) {
    open.push_back({.least = least.value, .partial = std::move(partial), .number = nodes_++});
    std::ranges::push_heap(open, Later());
  }
}

// The candidate, with its `*` in each order. (Of the order the bound knows nothing.)
bool LayoutSearch::consider_orders(const LayoutCandidate& candidate) {
  std::vector<std::size_t> order = rest_order(candidate);
  do {
    if (is_over(round_)) {
      return false;
    }
    consider(with_rest_order(candidate, order));
  } while (std::ranges::next_permutation(order).found);
  return true;
}

LayoutSearch::Added LayoutSearch::add_choices(Open& open, const Partial& partial,
                                              const Share& share) {
  const std::size_t dims = space_.dims().size();
  const std::size_t last = partial.reaches == Reaches::kRules       ? dims
                           : partial.reaches == Reaches::kVariables ? dims + space_.axes()
                                                                    : roles_.decisions();
  if (partial.decided >= last) {
    return Added::kNone;
  }
  for (LayoutCandidate& candidate : choices(partial)) {
    if (is_spent(share, 0)) {
      return Added::kSome;
    }
    add_open(open, {.candidate = std::move(candidate),
                    .decided = partial.decided + 1,
                    .reaches = partial.reaches});
  }
  return Added::kAll;
}

LayoutSearch::Share LayoutSearch::share_of_bounds() const {
  constexpr std::int64_t kWorkOfBound = 20;  // values that are lowered in the time of one
  constexpr std::int64_t kAlways = 100;
  return {.least = result_.bounded + kAlways,
          .most = result_.bounded + round_ / kWorkOfBound,
          .looks = pricer_.work_of_looks() + std::max(round_, kFirstRound) / 4};
}

// With so many candidates that are still to be planned.
bool LayoutSearch::is_spent(const Share& share, std::int64_t to_plan) const {
  const bool is_at_end =
      result_.bounded > share.most || is_over(round_ - pricer_.work_of_plan() * to_plan);
  return (result_.bounded > share.least && is_at_end) || pricer_.work_of_looks() > share.looks;
}

// Candidates that the bound alone does not leave out are planned once it has left out all others;
// not where they are more than there is work for.
bool LayoutSearch::branch(Reaches reaches, bool is_all) {
  Open open;
  for (LayoutCandidate& beginning : space_.beginnings()) {
    add_open(open, {.candidate = std::move(beginning), .decided = 0, .reaches = reaches});
  }
  const Share share = share_of_bounds();
  std::vector<LayoutCandidate> left;
  std::int64_t to_plan = 0;
  double least_left = 0;  // of these
  while (!open.empty() && !is_closed(open.front().least)) {
    least_left = left.empty() ? open.front().least : least_left;
    if (is_all) {
      result_.bound = std::max(result_.bound, least_left);
    }
    if (is_spent(share, to_plan)) {
      return false;
    }
    std::ranges::pop_heap(open, Later());
    const Partial partial = std::move(open.back().partial);
    open.pop_back();
    const Added added = add_choices(open, partial, share);
    if (added == Added::kSome) {
      return false;
    }
    if (added == Added::kNone && space_.is_consistent(partial.candidate)) {
      left.push_back(partial.candidate);
      to_plan += space_.exchanges(partial.candidate);
    }
  }
  const bool is_proven = consider_all(std::move(left));
  result_.proven = is_proven ? std::optional(reaches) : result_.proven;
  return is_proven;
}

// Those that the bound has left, the best ones by their guess first. False: some are not planned.
bool LayoutSearch::consider_all(std::vector<LayoutCandidate> left) {
  const bool are_all = left.empty() || !space_.leaves_out_orders();
  left = by_guess(std::move(left));
  const auto considered = [this](const LayoutCandidate& other) { return consider_orders(other); };
  return std::ranges::all_of(left,
                             [&](const LayoutCandidate& candidate) {
                               return space_.all_exchanged(candidate, considered);
                             }) &&
         are_all;
}

std::vector<const Priced*> pareto_front(const Pricer& pricer) {
  std::vector<const Priced*> all;
  for (const auto& [candidate, priced] : pricer.known()) {
    if (priced.is_legal) {
      all.push_back(&priced);
    }
  }
  const auto order = [](const Priced* p) {
    return std::tuple(rounded(p->seconds), p->peak_bytes, p->axes.size(), p->axes,
                      rules_in(p->candidate));
  };
  std::ranges::stable_sort(all, {}, order);
  std::vector<const Priced*> front;
  for (const Priced* priced : all) {
    if (front.empty() || priced->peak_bytes < front.back()->peak_bytes) {
      front.push_back(priced);
    }
  }
  return front;
}

}  // namespace mtf
