#include "lowering/reshard/reshard_moves.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "lowering/layout/holders.h"

namespace mtf {
namespace {

bool begins(const Axes& a, const Axes& b) {
  return a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin());
}

std::size_t common_length(const Axes& a, const Axes& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

bool splits_by(const ValueLayout& layout, AxisId axis) {
  return std::ranges::any_of(layout.dims, [axis](const Axes& axes) { return has(axes, axis); });
}

std::int64_t local_elements(const Shape& shape, const Mesh& mesh, const std::vector<Axes>& dims) {
  std::int64_t volume = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    volume *= mesh.longest_part(shape[d].size, dims[d]);
  }
  return volume;
}

bool any_dim_turns(const ValueLayout& from, const ValueLayout& to) {
  for (std::size_t d = 0; d < from.dims.size(); ++d) {
    if (!begins(from.dims[d], to.dims[d]) && !begins(to.dims[d], from.dims[d])) {
      return true;
    }
  }
  return false;
}

std::optional<Axes> lost_in_one_step(const ValueLayout& from, const ValueLayout& to) {
  const bool plain = from.partial.empty() && from.where.empty() && to.where.empty() &&
                     from.reach.empty() && to.reach.empty();
  if (!plain || any_dim_turns(from, to)) {
    return std::nullopt;
  }
  Axes lost;
  for (std::size_t d = 0; d < from.dims.size(); ++d) {
    const Axes& axes = from.dims[d];
    for (std::size_t i = to.dims[d].size(); i < axes.size(); ++i) {
      lost.push_back(axes[i]);
    }
  }
  return lost;
}

namespace {

Axes axes_by_use(const Mesh& mesh, const ValueLayout& from, const ValueLayout& to, bool use) {
  Axes axes;
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
    const auto axis = static_cast<AxisId>(a);
    if (mesh.axes[a].size > 1 && (from.uses(axis) || to.uses(axis)) == use) {
      axes.push_back(axis);
    }
  }
  return axes;
}

}  // namespace

Axes used_axes(const Mesh& mesh, const ValueLayout& from, const ValueLayout& to) {
  return axes_by_use(mesh, from, to, /*use=*/true);
}

Axes idle_axes(const Mesh& mesh, const ValueLayout& from, const ValueLayout& to) {
  return axes_by_use(mesh, from, to, /*use=*/false);
}

MoveMaker::MoveMaker(const Shape& shape, const Mesh& mesh, const ValueLayout& start,
                     const ValueLayout& target, Axes idle)
    : shape_(shape), mesh_(mesh), target_(target), idle_(std::move(idle)) {
  constexpr std::size_t kFewAxes = 4;
  const auto named = static_cast<std::size_t>(std::popcount(used(start) | used(target)));
  is_small_ = named + idle_.size() <= kFewAxes;
  spellings_.push_back(target.dims);
  for (const Condition& condition : target.where) {
    if (condition.same) {
      spellings_.push_back(turned_to(target, condition.axis).dims);
    }
  }
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    const auto id = static_cast<AxisId>(axis);
    const Condition* condition = condition_on(target, id);
    // on the way a diagonal's axis may split the dim as well
    if (splits_by(target, id) || (condition != nullptr && condition->same)) {
      wanted_.push_back(id);
    }
  }
  wanted_.insert(wanted_.end(), idle_.begin(), idle_.end());
}

std::vector<Move> MoveMaker::from(const ValueLayout& at) const {
  std::vector<Move> moves;
  if (const std::optional<Axes> lost = lost_in_one_step(at, target_);
      lost && target_.where.empty()) {
    moves.push_back({.kind = lost->empty() ? StepKind::kSlice : StepKind::kAllToAll,
                     .to = target_,
                     .axes = *lost});
    return moves;
  }
  const bool may_turn = at.where.empty() && at.partial.empty();
  const std::vector<Turn> found = may_turn ? turns(at.dims) : std::vector<Turn>();
  finishes(at, moves);
  slices(at, found, moves);
  drops(at, moves);
  broadcasts(at, moves);
  exchanges(at, moves);
  permutes(at, found, moves);
  return moves;
}

bool MoveMaker::divides(std::size_t dim, const Axes& present, std::int64_t ways) const {
  return mesh_.uneven || shape_[dim].size % (mesh_.size_of(present) * ways) == 0;
}

MoveMaker::AxisSet MoveMaker::used(const ValueLayout& layout) {
  AxisSet set = 0;
  for (const Axes& axes : layout.dims) {
    for (const AxisId axis : axes) {
      set |= AxisSet{1} << axis;
    }
  }
  for (const AxisId axis : layout.partial) {
    set |= AxisSet{1} << axis;
  }
  for (const Condition& condition : layout.where) {
    set |= AxisSet{1} << condition.axis;
  }
  return set;
}

// Dims that have but a beginning of what is wanted there take on the next axes that are free.
void MoveMaker::land(ValueLayout& layout, const Dims& wanted, const std::vector<char>& closed) {
  AxisSet taken = used(layout);
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    Axes& axes = layout.dims[d];
    if (closed[d] != 0 || !begins(axes, wanted[d])) {
      continue;
    }
    while (axes.size() < wanted[d].size()) {
      const AxisId next = wanted[d][axes.size()];
      if (((taken >> next) & 1) != 0) {
        break;
      }
      taken |= AxisSet{1} << next;
      axes.push_back(next);
    }
  }
}

// ---- exchanges --------------------------------------------------------------------------------

// Takes axes off the minor ends of some dims, by one step along all of them: any number of them
// where that is few choices, else what the target does not want there.
void MoveMaker::exchanges(const ValueLayout& at, std::vector<Move>& moves) const {
  constexpr std::size_t kFew = 64;
  std::size_t ways = 1;
  for (const Axes& axes : at.dims) {
    ways *= axes.size() + 1;
  }
  std::vector<std::vector<std::size_t>> choices;  // per dim, how many axes it may keep
  for (std::size_t d = 0; d < at.dims.size(); ++d) {
    std::vector<std::size_t>& keep = choices.emplace_back();
    const std::size_t wanted = common_length(at.dims[d], target_.dims[d]);
    for (std::size_t length = at.dims[d].size() + 1; length-- > 0;) {
      if ((is_small_ && ways <= kFew) || length == at.dims[d].size() || length == wanted) {
        keep.push_back(length);
      }
    }
  }
  for_each_pick(choices, [&](const std::vector<std::size_t>& keep) { exchange(at, keep, moves); });
}

void MoveMaker::exchange(const ValueLayout& at, const std::vector<std::size_t>& keep,
                         std::vector<Move>& moves) const {
  Move move{.kind = StepKind::kAllToAll, .to = at, .axes = {}};
  std::vector<char> closed(keep.size(), 0);
  for (std::size_t d = 0; d < keep.size(); ++d) {
    Axes& axes = move.to.dims[d];
    closed[d] = keep[d] < axes.size() ? 1 : 0;
    AxisId* const first = axes.begin() + keep[d];
    if (std::any_of(first, axes.end(), [&](AxisId axis) { return is_compared(at, axis); })) {
      return;
    }
    move.axes.insert(move.axes.end(), first, axes.end());
    axes.erase(first, axes.end());
  }
  if (move.axes.empty()) {
    return;
  }
  for (const Dims& wanted : spellings_) {
    Move landed = move;
    land(landed.to, wanted, closed);
    for (std::size_t d = 0; d < keep.size() && is_small_; ++d) {
      if (closed[d] == 0) {
        park(landed, d, move.axes, moves);
        park(landed, d, wanted_, moves);
      }
    }
    if (is_small_) {
      park_apart(landed, closed, moves);
    }
    moves.push_back(std::move(landed));
  }
}

// Two of them to two dims.
void MoveMaker::park_apart(const Move& landed, const std::vector<char>& closed,
                           std::vector<Move>& moves) const {
  const AxisSet taken = used(landed.to);
  Axes left;
  std::ranges::copy_if(landed.axes, std::back_inserter(left),
                       [taken](AxisId axis) { return ((taken >> axis) & 1) == 0; });
  for (std::size_t d = 0; d < closed.size() && left.size() == 2; ++d) {
    for (std::size_t e = 0; e < closed.size(); ++e) {
      std::vector<Move> first;
      if (d != e && closed[d] == 0 && closed[e] == 0) {
        park(landed, d, {left[0]}, first);
      }
      if (!first.empty()) {
        park(std::move(first.front()), e, {left[1]}, moves);
      }
    }
  }
}

// What all ranks along an axis would receive, each of them may receive a part of, to be gathered
// behind: all idle axes together, at one dim.
void MoveMaker::park_idle(const Move& move, std::vector<Move>& moves) const {
  for (std::size_t d = 0; d < move.to.dims.size() && !idle_.empty(); ++d) {
    park(move, d, idle_, moves);
  }
}

// Axes that cannot be where they are wanted yet go behind what a dim has: a rank has less then.
void MoveMaker::park(Move move, std::size_t dim, const Axes& axes, std::vector<Move>& moves) const {
  const AxisSet taken = used(move.to);
  Axes& has_axes = move.to.dims[dim];
  const std::size_t before = has_axes.size();
  for (const AxisId axis : axes) {
    if (((taken >> axis) & 1) == 0 && divides(dim, has_axes, mesh_.axes[axis].size)) {
      has_axes.push_back(axis);
    }
  }
  if (has_axes.size() > before) {
    moves.push_back(std::move(move));
  }
}

}  // namespace mtf
