// Sums that are finished, and slices that only some ranks are to hold.

#include <algorithm>
#include <iterator>

#include "lowering/layout/holders.h"
#include "lowering/reshard/reshard_moves.h"

namespace mtf {

// What may be added up next, in the order of the tree: its innermost levels.
std::vector<Axes> MoveMaker::runs(const Axes& partial) const {
  std::vector<Axes> result;
  for (std::size_t length = 1; length <= partial.size(); ++length) {
    result.emplace_back(partial.end() - static_cast<std::ptrdiff_t>(length), partial.end());
  }
  return result;
}

// What only some ranks are to hold, only they get the sum of.
void MoveMaker::finishes(const ValueLayout& at, std::vector<Move>& moves) const {
  const std::size_t before = moves.size();
  reduces(at, moves);
  if (moves.size() > before) {
    return;
  }
  for (const Axes& run : runs(at.partial)) {
    if (run.size() > 1 && !target_.where.empty()) {
      continue;
    }
    ValueLayout rest = at;
    erase_if(rest.partial, [&run](AxisId axis) { return has(run, axis); });
    scatters(rest, run, moves);
    moves.push_back({.kind = StepKind::kAllReduce, .to = std::move(rest), .axes = run});
  }
}

// Axes that the target does not want where the sum is go behind what a dim has, to be gathered or
// moved on; all of them to one dim where there are many.
void MoveMaker::scatters(const ValueLayout& rest, const Axes& run, std::vector<Move>& moves) const {
  for (const Dims& wanted : spellings_) {
    ValueLayout landed = rest;
    land(landed, wanted, std::vector<char>(wanted.size(), 0));
    const AxisSet taken = used(landed);
    Axes left;
    std::ranges::copy_if(run, std::back_inserter(left),
                         [taken](AxisId axis) { return ((taken >> axis) & 1) == 0; });
    constexpr std::size_t kMostApart = 3;
    const std::size_t groups = left.empty() ? 0 : left.size() <= kMostApart ? left.size() : 1;
    std::size_t ways = 1;
    for (std::size_t i = 0; i < groups; ++i) {
      ways *= rest.dims.size();
    }
    for (std::size_t way = 0; way < ways; ++way) {
      Move move{.kind = StepKind::kReduceScatter, .to = landed, .axes = run};
      std::size_t digits = way;
      bool possible = true;
      for (std::size_t i = 0; i < left.size(); ++i) {
        const std::size_t dim = digits % rest.dims.size();
        digits = groups == 1 ? digits : digits / rest.dims.size();
        Axes& axes = move.to.dims[dim];
        possible = possible && divides(dim, axes, mesh_.axes[left[i]].size);
        axes.push_back(left[i]);
      }
      if (possible) {
        park_idle(move, moves);
        moves.push_back(std::move(move));
      }
    }
  }
}

// The sum over an axis is wanted by some ranks only, whose slices are cut already.
void MoveMaker::reduces(const ValueLayout& at, std::vector<Move>& moves) const {
  for (const Condition& condition : target_.where) {
    for (const AxisId axis : at.partial) {
      const bool inner = axis == at.partial.back();
      const bool turned = condition.same == axis;
      if (!inner || (condition.axis != axis && !turned)) {
        continue;
      }
      const Condition wanted = turned ? Condition{.axis = axis, .same = condition.axis} : condition;
      if (wanted.same && !splits_by(at, *wanted.same)) {
        continue;
      }
      Move move{.kind = StepKind::kReduce, .to = at, .axes = {axis}};
      erase(move.to.partial, axis);
      move.to.where.push_back(wanted);
      std::ranges::sort(move.to.where);
      moves.push_back(std::move(move));
    }
  }
}

// ---- storage on a part of the mesh ------------------------------------------------------------

// Ranks let go of what the target does not want them to hold. On a diagonal the axis that splits
// the dim here may be another than in the target's spelling.
void MoveMaker::drops(const ValueLayout& at, std::vector<Move>& moves) const {
  const AxisSet taken = used(at);
  for (const Condition& condition : target_.where) {
    Condition wanted = condition;
    if (condition.same && ((taken >> condition.axis) & 1) != 0) {
      wanted = {.axis = *condition.same, .same = condition.axis};
    }
    if (((taken >> wanted.axis) & 1) == 0 && (!wanted.same || splits_by(at, *wanted.same))) {
      Move move{.kind = StepKind::kSlice, .to = at, .axes = {wanted.axis}};
      move.to.where.push_back(wanted);
      std::ranges::sort(move.to.where);
      moves.push_back(std::move(move));
    }
  }
}

void MoveMaker::broadcasts(const ValueLayout& at, std::vector<Move>& moves) const {
  Axes axes;
  for (const Condition& condition : at.where) {
    axes.push_back(condition.axis);
    if (condition.same) {
      axes.push_back(*condition.same);
    }
  }
  std::ranges::sort(axes);
  const auto twice = std::ranges::unique(axes);
  axes.erase(twice.begin(), twice.end());
  for (const AxisId axis : axes) {
    moves.push_back({.kind = StepKind::kBroadcast, .to = spread_over(at, axis), .axes = {axis}});
  }
}

}  // namespace mtf
