// The local search: from several starts, one change after the other that makes it better.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "lowering/search/search.h"

namespace mtf {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::pair<double, double> kNever(kInfinite, kInfinite);  // a guess that nothing is behind

// Each with its key, which is asked for once, the least first.
template <typename Key>
auto in_order(std::vector<LayoutCandidate> candidates, const Key& key) {
  std::vector<std::pair<decltype(key(candidates.front())), LayoutCandidate>> order;
  order.reserve(candidates.size());
  for (LayoutCandidate& candidate : candidates) {
    auto own = key(candidate);
    order.emplace_back(std::move(own), std::move(candidate));
  }
  std::ranges::stable_sort(order, {}, [](const auto& keyed) { return keyed.first; });
  return order;
}

std::vector<LayoutCandidate> without_keys(auto order) {
  std::vector<LayoutCandidate> candidates;
  candidates.reserve(order.size());
  std::ranges::transform(order, std::back_inserter(candidates),
                         [](auto& keyed) { return std::move(keyed.second); });
  return candidates;
}

}  // namespace

std::size_t LayoutSearch::Rng::below(std::size_t n) {  // splitmix64
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<std::size_t>((z ^ (z >> 31U)) % n);
}

LayoutSearch::Guess LayoutSearch::promise(const LayoutCandidate& candidate) {
  const RoleBound::Least least = roles_.least(roles_.whole(candidate));
  return {beyond(least.bytes), least.value};
}

LayoutSearch::Guess LayoutSearch::reached_by(const Priced& priced) const {
  return priced.is_legal ? Guess(beyond(static_cast<double>(priced.peak_bytes)),
                                 value_of(priced, goal_.objective))
                         : kNever;
}

// What the estimate says, as a merit. It may be off by some memory: what nearly fits is taken to.
LayoutSearch::Guess LayoutSearch::guess(const LayoutCandidate& candidate) {
  constexpr double kNearly = 0.9;
  ++guessed_;
  const RoleCost::Figures figures = roles_.estimate(candidate);
  return {beyond(figures.bytes * kNearly), figures.value};
}

// The best change by its guess, as long as there is one.
LayoutCandidate LayoutSearch::descend_by_guess(LayoutCandidate from, std::int64_t share) {
  Guess here = guess(from);
  for (bool is_better = true; is_better && !is_over(share);) {
    is_better = false;
    std::vector<LayoutCandidate> moves = neighbours(from);
    if (space_.limits().passes) {
      moves.push_back(from);
      moves.back().again ^= true;
    }
    for (LayoutCandidate& moved : moves) {
      const Guess there = is_over(share) ? kNever : guess(moved);
      if (there < here) {
        here = there;
        from = std::move(moved);
        is_better = true;
      }
    }
  }
  return from;
}

// Where it is only the memory that is in the way of something better, what gathers again.
const Priced* LayoutSearch::lighter(const Priced& start, double reached) {
  const bool may_help = space_.limits().passes && start.is_legal && start.gathers &&
                        !start.candidate.again && !merit_of(start, goal_).fits() &&
                        value_of(start, goal_.objective) < reached;
  if (!may_help) {
    return &start;
  }
  LayoutCandidate again = start.candidate;
  again.again = true;
  const Priced& other = priced(again);
  return other.is_legal && is_better(other, &start) ? &other : &start;
}

// Whether nothing was planned yet in which all tensors lie alike.
bool LayoutSearch::looks_new(const LayoutCandidate& candidate) {
  const auto [found, is_new] = looks_.emplace(roles_.look(candidate), candidate);
  return is_new || found->second == candidate;
}

// The first change that makes it better, those first that are best by their guess; of those that
// may be better by their bound, so many.
const Priced* LayoutSearch::step(const Priced& from, std::int64_t share, std::size_t most) {
  const Guess reached = reached_by(from);
  std::vector<LayoutCandidate> candidates = neighbours(from.candidate);
  add_pass_moves(from, candidates);
  const auto in_time = [&](const LayoutCandidate& moved) {
    return is_over(share) ? kNever : guess(moved);
  };
  for (const auto& [guess, moved] : in_order(std::move(candidates), in_time)) {
    if (most == 0 || is_over(share)) {
      return nullptr;
    }
    if (!std::isfinite(guess.second) || promise(moved) >= reached || !looks_new(moved)) {
      continue;
    }
    most -= pricer_.knows(moved) ? 0 : 1;
    const Priced* next = lighter(priced(moved), reached.second);
    if (next->is_legal && is_better(*next, &from)) {
      return next;
    }
  }
  return nullptr;
}

const Priced* LayoutSearch::descend(const LayoutCandidate& from, std::int64_t share,
                                    std::size_t most) {
  const Priced* here = &priced(from);
  while (const Priced* next = is_over(share) ? nullptr : step(*here, share, most)) {
    here = next;
  }
  return here;
}

LayoutCandidate LayoutSearch::simplest(const Priced& priced, std::int64_t most) {
  const Priced* here = &priced;
  const auto is_worse = [this, &here](const LayoutCandidate& candidate) {
    constexpr double kRounding = 1e-9;
    const auto [excess, value] = reached_by(*here);
    return promise(candidate) > Guess(excess * (1 + kRounding), value * (1 + kRounding));
  };
  // Each thing that is said is left out once, or as long as that makes it better.
  std::vector<LayoutCandidate> fewer = shorter(here->candidate);
  for (std::size_t i = 0; i < fewer.size();) {
    const LayoutCandidate& candidate = fewer[i];
    const bool may_be = candidate != here->candidate && space_.is_consistent(candidate) &&
                        (pricer_.work() < most || pricer_.knows(candidate)) && !is_worse(candidate);
    const Priced* other = may_be ? &pricer_.price(candidate) : nullptr;
    if (other != nullptr && other->is_legal && is_better(*other, here)) {
      here = other;
      fewer = shorter(here->candidate);
    } else {
      ++i;
    }
  }
  return here->candidate;
}

LayoutCandidate LayoutSearch::shaken(LayoutCandidate candidate) {
  for (int i = 0; i < 3; ++i) {
    const std::vector<LayoutCandidate> moves = neighbours(candidate);
    if (!moves.empty()) {
      candidate = moves[random_.below(moves.size())];
    }
  }
  return candidate;
}

// To each candidate the axis, on a set of dims that takes no further one.
void LayoutSearch::add_starts(std::size_t mesh, AxisId axis,
                              std::vector<LayoutCandidate>& all) const {
  constexpr std::size_t kMost = 200;
  const std::vector<DimSet>& sets = sets_[mesh][axis];
  const auto is_largest = [&sets](DimSet set) {
    return set != 0 && std::ranges::none_of(sets, [set](DimSet other) {
             return other != set && (other & set) == set;
           });
  };
  const std::size_t end = all.size();
  for (const DimSet set : sets) {
    for (std::size_t i = 0; is_largest(set) && i < end && all.size() < kMost; ++i) {
      all.push_back(all[i]);
      for (std::size_t d = 0; d < space_.dims().size(); ++d) {
        if (has(set, d)) {
          all.back().rules[d].push_back(axis);
        }
      }
    }
  }
}

// All axes on such sets, or on none, on one mesh; or nothing but what `*` of one dim or two splits.
std::vector<LayoutCandidate> LayoutSearch::starts(std::size_t mesh) const {
  std::vector<LayoutCandidate> all = {space_.unsplit(mesh)};
  for (std::size_t a = 0; a < space_.axes(); ++a) {
    add_starts(mesh, static_cast<AxisId>(a), all);
  }
  for (LayoutCandidate& candidate : all) {
    make_consistent(candidate);
  }
  if (space_.limits().rest) {
    add_rest_moves(space_.unsplit(mesh), all);
    for (std::size_t i = 0, end = all.size(); i < end; ++i) {  // two of them in either order
      if (std::vector<std::size_t> order = rest_order(all[i]); order.size() == 2) {
        std::swap(order[0], order[1]);
        all.push_back(with_rest_order(all[i], std::move(order)));
      }
    }
  }
  std::set<LayoutCandidate> seen;
  std::erase_if(all, [&](LayoutCandidate& c) {
    c = space_.canonical(c);
    return !seen.insert(c).second || !space_.is_consistent(c);
  });
  return all;
}

// Where rules would split a variable twice over an axis, it splits the largest set of dims that it
// may.
void LayoutSearch::make_consistent(LayoutCandidate& candidate) const {
  for (std::size_t a = 0; a < space_.axes() && !space_.is_consistent(candidate); ++a) {
    const LayoutCandidate before = candidate;
    for (const DimSet set : variable_sets_[candidate.mesh][a]) {
      const DimSet was = candidate.variables[a] == kAsRules ? 0 : candidate.variables[a];
      if (__builtin_popcountll(set) > __builtin_popcountll(was)) {
        candidate.variables[a] = set;
      }
    }
    candidate = space_.is_consistent(candidate) || a + 1 < space_.axes() ? candidate : before;
  }
}

// From it every other one is some moves away.
std::size_t LayoutSearch::most_even_mesh() const {
  const auto largest = [this](std::size_t m) {
    std::int64_t size = 1;
    for (const MeshAxis& axis : space_.meshes()[m].axes) {
      size = std::max(size, axis.size);
    }
    return size;
  };
  std::size_t even = 0;
  for (std::size_t m = 1; m < space_.meshes().size(); ++m) {
    even = largest(m) < largest(even) ? m : even;
  }
  return even;
}

// Where guesses lead from some starts, and from around where they led, the best one first.
std::vector<LayoutCandidate> LayoutSearch::guessed(std::span<const LayoutCandidate> starts,
                                                   std::int64_t share) {
  constexpr int kShakes = 10;
  std::map<LayoutCandidate, Guess> found;
  const auto add = [&](const LayoutCandidate& from) {
    LayoutCandidate end = descend_by_guess(from, share);
    const Guess reached = guess(end);
    found.emplace(std::move(end), reached);
  };
  const auto best = [&found] {
    return std::ranges::min_element(found, {}, [](const auto& one) { return one.second; })->first;
  };
  std::ranges::for_each(starts, add);
  for (int i = 0; i < kShakes && !found.empty() && !is_over(share); ++i) {
    add(shaken(best()));
  }
  std::vector<LayoutCandidate> result;
  result.reserve(found.size());
  for (const auto& [candidate, reached] : found) {
    result.push_back(candidate);
  }
  return without_keys(
      in_order(std::move(result), [&](const LayoutCandidate& c) { return found.at(c); }));
}

std::vector<LayoutCandidate> LayoutSearch::by_guess(std::vector<LayoutCandidate> candidates) {
  return without_keys(in_order(std::move(candidates), [this](const LayoutCandidate& c) {
    return is_over(goal_.work) ? kNever : guess(c);
  }));
}

// Whether it is not guessed to be far worse than the best one is guessed to be.
bool LayoutSearch::is_hopeful(const LayoutCandidate& candidate) {
  constexpr double kFar = 1.5;
  if (result_.best == nullptr) {
    return true;
  }
  const Guess there = guess(candidate);
  const Guess here = guess(result_.best->candidate);
  return there.second <= here.second * kFar || there.first < here.first;
}

// From places around the best one, until so many in a row have led to nothing better.
void LayoutSearch::shake(std::int64_t share, int most_idle) {
  for (int idle = 0; idle < most_idle && !is_over(share); ++idle) {
    const Priced* before = result_.best;
    const LayoutCandidate from =
        before != nullptr ? before->candidate : space_.unsplit(most_even_mesh());
    const LayoutCandidate start = descend_by_guess(shaken(from), share);
    if (is_hopeful(start) && !is_over(share)) {
      static_cast<void>(descend(start, share, patience_));
    }
    idle = result_.best != before ? -1 : idle;
  }
}

// What no rule names follows: from nothing but what the program says itself, and from the best.
void LayoutSearch::add_following(std::vector<const Priced*>& begun) {
  if (!space_.may_infer()) {
    return;
  }
  const bool is_any = result_.best != nullptr;
  const LayoutCandidate best = is_any ? result_.best->candidate : space_.unsplit(most_even_mesh());
  for (LayoutCandidate candidate : {space_.unsplit(best.mesh), best}) {
    candidate.infer = true;
    begun.push_back(lighter(priced(candidate), kInfinite));
  }
}

// From the best few of what was planned.
void LayoutSearch::descend_from_best(std::vector<const Priced*> begun, std::int64_t share) {
  constexpr std::size_t kBegun = 3;
  std::ranges::stable_sort(begun, [this](const Priced* a, const Priced* b) {
    return a != b && a->is_legal && is_better(*a, b);
  });
  begun.resize(std::min(begun.size(), kBegun));
  for (const Priced* start : begun) {
    static_cast<void>(descend(start->candidate, share, patience_));
  }
}

// From the next few starts, those first that are best by their guess.
void LayoutSearch::start_locally(std::int64_t share) {
  constexpr std::size_t kStarts = 6;
  constexpr int kIdle = 24;
  const std::int64_t before = work();
  const std::span<const LayoutCandidate> left = std::span(starts_).subspan(begun_);
  const std::span<const LayoutCandidate> some = left.first(std::min(left.size(), kStarts));
  begun_ += some.size();
  std::vector<const Priced*> begun = {};
  for (const LayoutCandidate& candidate : guessed(some, before + (share - before) / 4)) {
    if (begun.empty() || (is_hopeful(candidate) && !is_over(before + (share - before) / 2))) {
      begun.push_back(lighter(priced(candidate), kInfinite));
    }
  }
  add_following(begun);
  // The smaller the plans are beside all the work, the more changes are tried before giving up.
  constexpr std::int64_t kLeast = 8;
  const std::int64_t plans = share / std::max<std::int64_t>(1, pricer_.work_of_plan());
  patience_ = static_cast<std::size_t>(std::max(kLeast, plans / 8));
  descend_from_best(std::move(begun), share);
  shake(share, kIdle);
  if (result_.best != nullptr) {
    static_cast<void>(
        descend(result_.best->candidate, share, std::numeric_limits<std::size_t>::max()));
  }
}

// From the starts that are best by their plans: the guess may have led away from them, as it knows
// little of what `*` does.
void LayoutSearch::start_by_price(std::int64_t share) {
  const std::int64_t before = work();
  std::vector<const Priced*> begun;
  for (const LayoutCandidate& start : starts_) {
    if (is_over(before + (share - before) / 2)) {
      break;
    }
    begun.push_back(lighter(priced(start), kInfinite));
  }
  descend_from_best(std::move(begun), share);
}

}  // namespace mtf
