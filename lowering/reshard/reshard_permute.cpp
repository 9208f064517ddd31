// A permute and the slices before it, which make it smaller.

#include <algorithm>
#include <iterator>

#include "lowering/reshard/reshard_moves.h"

namespace mtf {

// Where a permute is to follow, more slices make it smaller: as many as its result can have.
// Elsewhere what an exchange does not do by itself: towards a diagonal, or before a sum.
void MoveMaker::slices(const ValueLayout& at, std::span<const Turn> found,
                       std::vector<Move>& moves) const {
  Move landed{.kind = StepKind::kSlice, .to = at, .axes = {}};
  land(landed.to, target_.dims, std::vector<char>(at.dims.size(), 0));
  if (landed.to != at) {
    moves.push_back(std::move(landed));
  }
  if (!is_small_) {
    park_idle({.kind = StepKind::kSlice, .to = at, .axes = {}}, moves);
  }
  if (at.partial.empty() && at.where.empty() && target_.where.empty()) {
    slices_to_turn(at, found, moves);
  } else {
    slices_along_one(at, moves);
  }
}

void MoveMaker::slices_to_turn(const ValueLayout& at, std::span<const Turn> found,
                               std::vector<Move>& moves) const {
  for (std::size_t d = 0; d < at.dims.size() && is_small_; ++d) {
    park({.kind = StepKind::kSlice, .to = at, .axes = {}}, d, wanted_, moves);
  }
  for (const Turn& turn : found) {
    if (turn.sliced != at.dims) {
      Move move{.kind = StepKind::kSlice, .to = at, .axes = {}};
      move.to.dims = turn.sliced;
      moves.push_back(std::move(move));
    }
  }
}

void MoveMaker::slices_along_one(const ValueLayout& at, std::vector<Move>& moves) const {
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

void MoveMaker::permutes(const ValueLayout& at, std::span<const Turn> found,
                         std::vector<Move>& moves) const {
  for (const Turn& turn : found) {
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
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
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
  const AxisSet taken = used({.dims = from, .partial = {}, .where = {}});
  AxisSet pool = taken;
  std::int64_t free = 1;  // ways that no dim has yet
  for (const AxisId axis : wanted_) {
    free *= ((pool >> axis) & 1) == 0 ? mesh_.axes[axis].size : 1;
    pool |= AxisSet{1} << axis;
  }
  std::vector<std::vector<Choice>> all;
  std::vector<std::int64_t> had;
  for (std::size_t d = 0; d < from.size(); ++d) {
    all.push_back(choices(d, from[d]));
    had.push_back(mesh_.size_of(from[d]));
  }
  std::vector<Turn> result;
  for_each_pick(all, [&](const std::vector<Choice>& picked) {
    std::vector<std::int64_t> more;
    std::int64_t all_more = 1;
    for (std::size_t d = 0; d < from.size(); ++d) {
      more.push_back(picked[d].ways / had[d]);
      all_more *= more.back();
    }
    if (free % all_more != 0) {
      return;
    }
    Turn turn{.sliced = from, .to = Dims(from.size())};
    if (fill(target_.dims, more, 0, pool & ~taken, turn.sliced) &&
        fill_behind(picked, from, pool, turn.to)) {
      result.push_back(std::move(turn));
    }
  });
  return result;
}

// The picked beginnings of the target, and behind them what makes up the numbers of slices.
bool MoveMaker::fill_behind(const std::vector<Choice>& picked, const Dims& from, AxisSet pool,
                            Dims& to) const {
  std::vector<std::int64_t> ways;
  for (std::size_t d = 0; d < from.size(); ++d) {
    const Axes& wanted = target_.dims[d];
    to[d] = Axes(wanted.begin(), wanted.begin() + picked[d].length);
    ways.push_back(picked[d].ways / mesh_.size_of(to[d]));
    for (const AxisId axis : to[d]) {
      pool &= ~(AxisSet{1} << axis);
    }
  }
  return fill(from, ways, 0, pool, to);
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
