// The local search: from several starts, one change after the other that makes it better.

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "lowering/search/search.h"

namespace mtf {
namespace {

// Of all dims that are not fixed.
void drop(const SearchSpace& space, std::vector<Axes>& rules, AxisId axis) {
  for (std::size_t d = 0; d < rules.size(); ++d) {
    if (!space.is_fixed(d)) {
      erase(rules[d], axis);
    }
  }
}

// Whether ranks move from one axis to another, and nothing else changes.
bool is_near(const Mesh& a, const Mesh& b) {
  std::size_t changed = 0;
  for (std::size_t i = 0; i < a.axes.size(); ++i) {
    const std::int64_t large = std::max(a.axes[i].size, b.axes[i].size);
    const std::int64_t small = std::min(a.axes[i].size, b.axes[i].size);
    changed += large != small ? 1 : 0;
    if (large % small != 0) {
      return false;
    }
  }
  return changed == 2;
}

}  // namespace

std::size_t LayoutSearch::Rng::below(std::size_t n) {  // splitmix64
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<std::size_t>((z ^ (z >> 31U)) % n);
}

void LayoutSearch::add_mesh_moves(const LayoutCandidate& candidate,
                                  std::vector<LayoutCandidate>& moves) const {
  for (std::size_t m = 0; m < space_.meshes().size(); ++m) {
    const Mesh& there = space_.meshes()[m];
    if (!is_near(space_.meshes()[candidate.mesh], there)) {
      continue;
    }
    LayoutCandidate moved = candidate;
    moved.mesh = m;
    for (std::size_t a = 0; a < there.axes.size(); ++a) {
      if (there.axes[a].size == 1) {
        drop(space_, moved.rules, static_cast<AxisId>(a));
        moved.variables[a] = kAsRules;
      }
    }
    moves.push_back(std::move(moved));
  }
}

// An axis splits another set of dims, or of the variables' dims.
void LayoutSearch::add_axis_moves(const LayoutCandidate& candidate,
                                  std::vector<LayoutCandidate>& moves) const {
  for (std::size_t a = 0; a < space_.axes(); ++a) {
    const auto axis = static_cast<AxisId>(a);
    for (const DimSet set : sets_[candidate.mesh][a]) {
      LayoutCandidate moved = candidate;
      drop(space_, moved.rules, axis);
      for (std::size_t d = 0; d < moved.rules.size(); ++d) {
        if (has(set, d)) {
          moved.rules[d].push_back(axis);
        }
      }
      moves.push_back(moved);
      moved.variables[a] = kAsRules;
      moves.push_back(std::move(moved));
    }
    for (const DimSet set : variable_sets_[candidate.mesh][a]) {
      moves.push_back(candidate);
      moves.back().variables[a] = set;
    }
    moves.push_back(candidate);
    moves.back().variables[a] = kAsRules;
  }
}

void LayoutSearch::add_dim_moves(const LayoutCandidate& candidate,
                                 std::vector<LayoutCandidate>& moves) const {
  for (std::size_t d = 0; d < candidate.rules.size(); ++d) {
    for (const Axes& axes : space_.choices(candidate.mesh, d)) {
      moves.push_back(candidate);
      moves.back().rules[d] = axes;
    }
    if (space_.limits().rest && !space_.is_fixed(d)) {
      moves.push_back(candidate);
      moves.back().rest ^= only(d);
    }
  }
  if (space_.limits().rest) {
    DimSet split = 0;
    for (std::size_t d = 0; d < candidate.rules.size(); ++d) {
      split |= candidate.rules[d].empty() || space_.is_fixed(d) ? 0 : only(d);
    }
    moves.push_back(candidate);
    moves.back().rest = candidate.rest == 0 ? split : 0;
  }
}

std::vector<LayoutCandidate> LayoutSearch::neighbours(const LayoutCandidate& candidate) const {
  std::vector<LayoutCandidate> moves;
  add_mesh_moves(candidate, moves);
  add_axis_moves(candidate, moves);
  add_dim_moves(candidate, moves);
  std::erase_if(moves, [&](const LayoutCandidate& moved) {
    return moved == candidate || !space_.is_consistent(moved);
  });
  return moves;
}

// What a candidate has at least of what is wanted: while the memory does not hold it, of memory.
double LayoutSearch::promise(const LayoutCandidate& candidate, bool fits) {
  const Partial whole = bounds_.whole(candidate);
  RoleBound& bound = bounds_.on(candidate.mesh);
  return fits ? bound.least(whole) : bound.least_memory(whole);
}

// Where its plan gathers, how else it may.
void LayoutSearch::add_pass_moves(const Priced& from, std::vector<LayoutCandidate>& moves) const {
  if (!space_.limits().passes || !from.gathers) {
    return;
  }
  moves.push_back(from.candidate);
  moves.back().again ^= true;
  for (const std::int64_t pieces : {1, 4, 16}) {
    if (pieces != from.candidate.stream && may_stream(from)) {
      moves.push_back(from.candidate);
      moves.back().stream = pieces;
      moves.back().again = moves.back().again || pieces > 1;
    }
  }
}

// The first change that makes it better, the most promising ones first.
const Priced* LayoutSearch::step(const Priced& from, std::int64_t share) {
  const bool fits = merit_of(from, goal_).fits();
  const double reached = !from.is_legal ? std::numeric_limits<double>::infinity()
                         : fits         ? value_of(from, goal_.objective)
                                        : static_cast<double>(from.peak_bytes);
  std::vector<LayoutCandidate> candidates = neighbours(from.candidate);
  add_pass_moves(from, candidates);
  std::vector<std::pair<double, LayoutCandidate>> moves;
  moves.reserve(candidates.size());
  for (LayoutCandidate& moved : candidates) {
    moves.emplace_back(promise(moved, fits), std::move(moved));
  }
  std::ranges::stable_sort(moves, {}, &std::pair<double, LayoutCandidate>::first);
  for (const auto& [least, moved] : moves) {
    if (least >= reached || is_over(share)) {
      return nullptr;
    }
    const Priced& next = priced(moved);
    if (next.is_legal && is_better(next, &from)) {
      return &next;
    }
  }
  return nullptr;
}

const Priced* LayoutSearch::descend(const LayoutCandidate& from, std::int64_t share) {
  const Priced* here = &priced(from);
  while (const Priced* next = is_over(share) ? nullptr : step(*here, share)) {
    here = next;
  }
  return here;
}

// What says one thing less.
std::vector<LayoutCandidate> LayoutSearch::shorter(const LayoutCandidate& candidate) const {
  std::vector<LayoutCandidate> fewer;
  const LayoutCandidate fixed = space_.unsplit(candidate.mesh);
  for (std::size_t d = 0; d < fixed.rules.size(); ++d) {
    fewer.push_back(candidate);
    fewer.back().rest &= ~only(d);
    if (!space_.is_fixed(d) && !candidate.rules[d].empty()) {
      fewer.push_back(candidate);
      fewer.back().rules[d].pop_back();
    }
    for (std::size_t a = 0; a < space_.axes(); ++a) {
      if (candidate.variables[a] != kAsRules && has(candidate.variables[a], d)) {
        const DimSet left = candidate.variables[a] & ~only(d);
        fewer.push_back(candidate);
        fewer.back().variables[a] = left == 0 ? kAsRules : left;
      }
    }
  }
  fewer.push_back(candidate);
  fewer.back().again = fixed.again;
  fewer.push_back(candidate);
  fewer.back().stream = fixed.stream;
  return fewer;
}

LayoutCandidate LayoutSearch::simplest(const Priced& priced, std::int64_t most) {
  const Priced* here = &priced;
  const auto is_worse = [this, &here](const LayoutCandidate& candidate) {
    constexpr double kRounding = 1e-9;
    const bool fits = merit_of(*here, goal_).fits();
    const double value =
        fits ? value_of(*here, goal_.objective) : static_cast<double>(here->peak_bytes);
    return promise(candidate, fits) > value * (1 + kRounding);
  };
  // Each thing that is said is left out once, or as long as that makes it better.
  std::vector<LayoutCandidate> fewer = shorter(here->candidate);
  for (std::size_t i = 0; i < fewer.size();) {
    const LayoutCandidate& candidate = fewer[i];
    const bool may_be = candidate != here->candidate && space_.is_consistent(candidate) &&
                        (!is_over(most) || pricer_.knows(candidate)) && !is_worse(candidate);
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

LayoutCandidate LayoutSearch::shaken(LayoutCandidate candidate, Rng& random) const {
  for (int i = 0; i < 3; ++i) {
    const std::vector<LayoutCandidate> moves = neighbours(candidate);
    if (!moves.empty()) {
      candidate = moves[random.below(moves.size())];
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

// All axes on such sets, or on none, on one mesh.
std::vector<LayoutCandidate> LayoutSearch::starts(std::size_t mesh) const {
  std::vector<LayoutCandidate> all = {space_.unsplit(mesh)};
  for (std::size_t a = 0; a < space_.axes(); ++a) {
    add_starts(mesh, static_cast<AxisId>(a), all);
  }
  for (LayoutCandidate& candidate : all) {
    make_consistent(candidate);
  }
  std::erase_if(all, [this](const LayoutCandidate& c) { return !space_.is_consistent(c); });
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

std::vector<LayoutCandidate> LayoutSearch::by_promise(std::vector<LayoutCandidate> candidates) {
  std::vector<std::pair<std::pair<bool, double>, LayoutCandidate>> order;
  for (LayoutCandidate& candidate : candidates) {
    const bool too_large = goal_.memory > 0 && promise(candidate, false) > goal_.memory;
    order.emplace_back(std::pair(too_large, promise(candidate, true)), std::move(candidate));
  }
  std::ranges::stable_sort(order, {}, &decltype(order)::value_type::first);
  candidates.clear();
  for (auto& [promised, candidate] : order) {
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

void LayoutSearch::start_locally(std::int64_t share) {
  const std::size_t even = most_even_mesh();
  std::vector<const Priced*> begun;
  for (const LayoutCandidate& candidate : by_promise(starts(even))) {
    if (begun.empty() || !is_over(share / 3)) {
      begun.push_back(&priced(candidate));
    }
  }
  std::ranges::stable_sort(begun, [this](const Priced* a, const Priced* b) {
    return a != b && a->is_legal && is_better(*a, b);
  });
  constexpr std::size_t kMostBegun = 3;
  begun.resize(std::min(begun.size(), kMostBegun));
  for (const Priced* start : begun) {
    static_cast<void>(descend(start->candidate, share));
  }
  Rng random{.state = 1};
  constexpr int kMostStarts = 24;
  for (int i = 0; i < kMostStarts && !is_over(share); ++i) {
    const LayoutCandidate from =
        result_.best != nullptr ? result_.best->candidate : space_.unsplit(even);
    static_cast<void>(descend(shaken(from, random), share));
  }
}

}  // namespace mtf
