// A permute and the slices before it, which make it smaller.

#include <algorithm>
#include <iterator>

#include "lowering/reshard/reshard_moves.h"

namespace mtf {

// Where a permute is to follow, more slices make it smaller: as many as its result can have.
// Elsewhere what an exchange does not do by itself: towards a diagonal, or before a sum.
void MoveMaker::slices(const ValueLayout& at, std::vector<Move>& moves) const {
  Move landed{.kind = StepKind::kSlice, .to = at, .axes = {}};
  land(landed.to, target_.dims, std::vector<char>(at.dims.size(), 0));
  if (landed.to != at) {
    moves.push_back(std::move(landed));
  }
  if (!is_small_) {
    park_idle({.kind = StepKind::kSlice, .to = at, .axes = {}}, moves);
  }
  if (at.partial.empty() && at.where.empty() && target_.where.empty()) {
    for (std::size_t d = 0; d < at.dims.size(); ++d) {
      if (is_small_) {
        park({.kind = StepKind::kSlice, .to = at, .axes = {}}, d, wanted_, moves);
      }
    }
    for (const Turn& turn : turns(at.dims)) {
      Move move{.kind = StepKind::kSlice, .to = at, .axes = {}};
      move.to.dims = turn.sliced;
      if (move.to != at) {
        moves.push_back(std::move(move));
      }
    }
    return;
  }
  const AxisSet taken = used(at);
  for (const AxisId axis : wanted_) {
    for (std::size_t d = 0; d < at.dims.size() && ((taken >> axis) & 1) == 0; ++d) {
      if (divides(d, at.dims[d], mesh_.axes[axis].size)) {
        Move move{.kind = StepKind::kSlice, .to = at, .axes = {axis}};
        move.to.dims[d].push_back(axis);
        moves.push_back(std::move(move));
      }
    }
  }
}

// ---- permutes ---------------------------------------------------------------------------------

void MoveMaker::permutes(const ValueLayout& at, std::vector<Move>& moves) const {
  for (const Turn& turn : turns(at.dims)) {
    if (turn.sliced != at.dims || turn.to == at.dims || !same_blocks(at.dims, turn.to)) {
      continue;
    }
    Axes axes;
    for (std::size_t d = 0; d < at.dims.size(); ++d) {
      if (at.dims[d] != turn.to[d]) {
        axes.insert(axes.end(), at.dims[d].begin(), at.dims[d].end());
        axes.insert(axes.end(), turn.to[d].begin(), turn.to[d].end());
      }
    }
    std::ranges::sort(axes);
    const auto twice = std::ranges::unique(axes);
    axes.erase(twice.begin(), twice.end());
    moves.push_back({.kind = StepKind::kPermute,
                     .to = {.dims = turn.to, .partial = {}, .where = {}},
                     .axes = std::move(axes)});
  }
}

// In how many slices a dim may be permuted, and how many of the target's axes it begins with then:
// a beginning of them, or all of them and behind it whatever makes up the number, as it is to leave
// again; at most its own as well. Where the sizes of axes allow neither, the longest beginning that
// fits.
std::vector<MoveMaker::Choice> MoveMaker::choices(std::size_t dim, const Axes& has_axes) const {
  std::vector<Choice> result;
  const std::int64_t ways = mesh_.size_of(has_axes);
  const Axes& wanted = target_.dims[dim];
  Choice longest{.ways = ways, .length = 0};
  std::int64_t begun = 1;
  for (std::size_t length = 0; length <= wanted.size(); ++length) {
    begun *= length == 0 ? 1 : mesh_.axes[wanted[length - 1]].size;
    if (begun % ways == 0) {
      result.push_back({.ways = begun, .length = length});
    } else if (ways % begun == 0) {
      longest.length = length;
      if (length == wanted.size()) {
        result.push_back({.ways = ways, .length = length});
      }
    }
  }
  Axes both = has_axes;
  std::ranges::copy_if(wanted, std::back_inserter(both),
                       [&both](AxisId axis) { return !has(both, axis); });
  if (divides(dim, {}, mesh_.size_of(both))) {
    result.push_back({.ways = mesh_.size_of(both), .length = wanted.size()});
  }
  if (result.empty() || std::ranges::none_of(result, [ways](Choice c) { return c.ways == ways; })) {
    result.push_back(longest);
  }
  return result;
}

// Pairs of layouts of the same local shape: of what `from` has after a slice, and nearer to the
// target.
std::vector<MoveMaker::Turn> MoveMaker::turns(const Dims& from) const {
  const ValueLayout at{.dims = from, .partial = {}, .where = {}};
  const AxisSet taken = used(at);
  AxisSet pool = taken;
  for (const AxisId axis : wanted_) {
    pool |= AxisSet{1} << axis;
  }
  std::vector<std::vector<Choice>> all;
  for (std::size_t d = 0; d < from.size(); ++d) {
    all.push_back(choices(d, from[d]));
  }
  std::vector<Turn> result;
  for_each_pick(all, [&](const std::vector<Choice>& picked) {
    Turn turn{.sliced = from, .to = Dims(from.size())};
    std::vector<std::int64_t> more;
    std::vector<std::int64_t> ways;
    AxisSet rest = pool;
    for (std::size_t d = 0; d < from.size(); ++d) {
      const auto [parts, length] = picked[d];
      const auto end = target_.dims[d].begin() + static_cast<std::ptrdiff_t>(length);
      turn.to[d] = Axes(target_.dims[d].begin(), end);
      more.push_back(parts / mesh_.size_of(from[d]));
      ways.push_back(parts / mesh_.size_of(turn.to[d]));
      for (const AxisId axis : turn.to[d]) {
        rest &= ~(AxisSet{1} << axis);
      }
    }
    if (fill(target_.dims, more, 0, pool & ~taken, turn.sliced) &&
        fill(from, ways, 0, rest, turn.to)) {
      result.push_back(std::move(turn));
    }
  });
  return result;
}

// Adds axes to dim `dim` and those behind it that make them so many times as many slices, first
// those that it has elsewhere. False: those that are free cannot.
bool MoveMaker::fill(const Dims& first, std::vector<std::int64_t>& ways, std::size_t dim,
                     AxisSet pool, Dims& to) const {
  if (dim == ways.size()) {
    return true;
  }
  if (ways[dim] == 1) {
    return fill(first, ways, dim + 1, pool, to);
  }
  Axes order = first[dim];
  for (std::size_t axis = 0; axis < mesh_.axes.size(); ++axis) {
    if (!has(order, static_cast<AxisId>(axis))) {
      order.push_back(static_cast<AxisId>(axis));
    }
  }
  for (const AxisId axis : order) {
    const std::int64_t size = mesh_.axes[axis].size;
    if (((pool >> axis) & 1) == 0 || size == 1 || ways[dim] % size != 0) {
      continue;
    }
    to[dim].push_back(axis);
    ways[dim] /= size;
    if (fill(first, ways, dim, pool & ~(AxisSet{1} << axis), to)) {
      return true;
    }
    ways[dim] *= size;
    to[dim].pop_back();
  }
  return false;
}

// Uneven blocks are others when other axes cut them.
bool MoveMaker::same_blocks(const Dims& a, const Dims& b) const {
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (a[d] != b[d] && shape_[d].size % mesh_.size_of(a[d]) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace mtf
