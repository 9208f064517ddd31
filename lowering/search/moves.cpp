// What is one change away from a candidate.

#include <algorithm>
#include <set>
#include <utility>

#include "lowering/search/search.h"

namespace mtf {
namespace {

constexpr std::size_t kFewChoices = 100;  // of a dim that are all one change away

// Of all dims that are not fixed.
void drop(const SearchSpace& space, std::vector<Axes>& rules, AxisId axis) {
  for (std::size_t d = 0; d < rules.size(); ++d) {
    if (!space.is_fixed(d)) {
      erase(rules[d], axis);
    }
  }
}

// What a mesh of these axes the other way round would have.
LayoutCandidate with_axes_exchanged(const SearchSpace& space, LayoutCandidate candidate,
                                    std::size_t a, std::size_t b) {
  for (std::size_t d = 0; d < candidate.rules.size(); ++d) {
    Axes exchanged;
    for (const AxisId axis : candidate.rules[d]) {
      exchanged.push_back(static_cast<AxisId>(axis == a ? b : axis == b ? a : axis));
    }
    candidate.rules[d] = space.is_fixed(d) ? candidate.rules[d] : exchanged;
  }
  std::swap(candidate.variables[a], candidate.variables[b]);
  return candidate;
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

// Whether lists of axes are the same but for one that is left out, or one or two in other places.
bool is_near(const Axes& a, const Axes& b) {
  if (a.size() == b.size()) {
    std::size_t changed = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      changed += a[i] != b[i] ? 1 : 0;
    }
    return changed <= 2;
  }
  const Axes& longer = a.size() > b.size() ? a : b;
  const Axes& other = a.size() > b.size() ? b : a;
  std::size_t same = 0;
  for (std::size_t i = 0; i < longer.size() && same < other.size(); ++i) {
    same += longer[i] == other[same] ? 1 : 0;
  }
  return longer.size() == other.size() + 1 && same == other.size();
}

}  // namespace

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

// Two dims, or two axes, take each other's place: where each has what the other needs, neither can
// go first.
void LayoutSearch::add_exchanges(const LayoutCandidate& candidate,
                                 std::vector<LayoutCandidate>& moves) const {
  for (std::size_t d = 0; d < candidate.rules.size(); ++d) {
    for (std::size_t e = 0; e < d; ++e) {
      if (!space_.is_fixed(d) && !space_.is_fixed(e)) {
        moves.push_back(candidate);
        std::swap(moves.back().rules[d], moves.back().rules[e]);
      }
    }
  }
  for (std::size_t a = 0; a < space_.axes(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      moves.push_back(with_axes_exchanged(space_, candidate, a, b));
    }
  }
}

void LayoutSearch::add_dim_moves(const LayoutCandidate& candidate,
                                 std::vector<LayoutCandidate>& moves) const {
  for (std::size_t d = 0; d < candidate.rules.size(); ++d) {
    const std::vector<Axes>& choices = space_.choices(candidate.mesh, d);
    for (const Axes& axes : choices) {
      if (choices.size() <= kFewChoices || is_near(candidate.rules[d], axes)) {
        moves.push_back(candidate);
        moves.back().rules[d] = axes;
      }
    }
  }
  if (space_.limits().rest) {
    add_rest_moves(candidate, moves);
  }
}

// One dim takes or leaves what tensors leave unused; two take it, as one alone may gain nothing;
// or all that have axes do, or none; or one of them takes it before the others.
void LayoutSearch::add_rest_moves(const LayoutCandidate& candidate,
                                  std::vector<LayoutCandidate>& moves) const {
  const auto add = [&](DimSet rest) { moves.push_back(with_rest(candidate, rest)); };
  DimSet split = 0;
  for (std::size_t d = 0; d < candidate.rules.size(); ++d) {
    if (space_.is_fixed(d)) {
      continue;
    }
    add(candidate.rest ^ only(d));
    split |= candidate.rules[d].empty() ? 0 : only(d);
    for (std::size_t e = 0; e < d; ++e) {
      if (!space_.is_fixed(e) && !has(candidate.rest, d) && !has(candidate.rest, e)) {
        add(candidate.rest | only(d) | only(e));
      }
    }
  }
  add(candidate.rest == 0 ? split : 0);
  const std::vector<std::size_t> order = rest_order(candidate);
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::vector<std::size_t> other = order;
    std::rotate(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(i),
                other.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    moves.push_back(with_rest_order(candidate, std::move(other)));
  }
}

// Whether dims that no rule names follow, and which of them do not.
void LayoutSearch::add_infer_moves(const LayoutCandidate& candidate,
                                   std::vector<LayoutCandidate>& moves) const {
  if (space_.may_infer()) {
    moves.push_back(candidate);
    moves.back().infer ^= true;
    moves.back().whole = 0;
  }
  for (std::size_t d = 0; d < candidate.rules.size(); ++d) {
    const bool is_open = !space_.is_fixed(d) && candidate.rules[d].empty();
    if (candidate.infer && is_open && !has(candidate.rest, d)) {
      moves.push_back(candidate);
      moves.back().whole ^= only(d);
    }
  }
}

std::vector<LayoutCandidate> LayoutSearch::neighbours(const LayoutCandidate& candidate) const {
  std::vector<LayoutCandidate> moves;
  add_mesh_moves(candidate, moves);
  add_axis_moves(candidate, moves);
  add_dim_moves(candidate, moves);
  add_exchanges(candidate, moves);
  if (space_.may_vary_recompute()) {
    moves.push_back(candidate);
    moves.back().recompute ^= true;
  }
  add_infer_moves(candidate, moves);
  // Several kinds of change may come to the same.
  std::set<LayoutCandidate> seen = {space_.canonical(candidate)};
  pricer_.add_looks(std::ssize(moves));
  std::erase_if(moves, [&](LayoutCandidate& moved) {
    moved = space_.canonical(moved);
    return !seen.insert(moved).second || !space_.is_consistent(moved);
  });
  return moves;
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

// What says one thing less.
std::vector<LayoutCandidate> LayoutSearch::shorter(const LayoutCandidate& candidate) const {
  std::vector<LayoutCandidate> fewer;
  const LayoutCandidate fixed = space_.unsplit(candidate.mesh);
  for (std::size_t d = 0; d < fixed.rules.size(); ++d) {
    fewer.push_back(with_rest(candidate, candidate.rest & ~only(d)));
    fewer.push_back(candidate);
    fewer.back().whole &= ~only(d);
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
  fewer.push_back(candidate);
  fewer.back().recompute = fixed.recompute;
  fewer.push_back(candidate);
  fewer.back().infer = fixed.infer;
  fewer.back().whole = 0;
  for (LayoutCandidate& one : fewer) {
    one = space_.canonical(one);
  }
  return fewer;
}

}  // namespace mtf
