// Sums are followed by their axes. Slices are compared by the axes that cut them where that is
// enough, which does not depend on the number of ranks; else rank by rank.

#include "lowering/verify/verify_move.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "lowering/layout/holders.h"
#include "lowering/partition/split/split.h"
#include "lowering/steps/bucket.h"

namespace mtf {
namespace {

bool sums(StepKind kind) {
  return kind == StepKind::kAllReduce || kind == StepKind::kReduceScatter ||
         kind == StepKind::kReduce;
}

bool same_axes(const Axes& a, const Axes& b) {
  return std::ranges::is_permutation(a, b);
}

// ---- sums ------------------------------------------------------------------------------------

// Sums finish from the innermost one outwards, or their tree would be another.
std::string problem_of_sums(const MoveCheck& move) {
  const Axes& before = move.from.partial;
  if (!sums(move.kind)) {
    return move.to.partial == before ? "" : "is no sum over the ranks, but changes what is partial";
  }
  if (before.size() < move.axes.size() ||
      !std::equal(move.axes.begin(), move.axes.end(), before.end() - std::ssize(move.axes))) {
    return "sums over axes that are not the last partial ones";
  }
  const Axes left(before.begin(), before.end() - std::ssize(move.axes));
  return move.to.partial == left ? "" : "does not leave the other sums partial";
}

// ---- slices, by axes ---------------------------------------------------------------------------

// What two lists of axes do not have in common at their front.
struct Ends {
  Axes from;
  Axes to;
};

Ends ends_of(const Axes& from, const Axes& to) {
  const auto [f, t] = std::ranges::mismatch(from, to);
  return {.from = Axes(f, from.end()), .to = Axes(t, to.end())};
}

Ends ends_of(const ValueLayout& from, const ValueLayout& to) {
  Ends all;
  for (std::size_t d = 0; d < from.dims.size(); ++d) {
    const Ends ends = ends_of(from.dims[d], to.dims[d]);
    all.from.insert(all.from.end(), ends.from.begin(), ends.from.end());
    all.to.insert(all.to.end(), ends.to.begin(), ends.to.end());
  }
  return all;
}

// Whether every dim only loses axes at its minor end, or only takes some on: then the ranks along
// the lost axes have, together and each once, all that any of them needs.
bool no_dim_turns(const MoveCheck& move) {
  for (std::size_t d = 0; d < move.shape.rank(); ++d) {
    const Ends ends = ends_of(move.from.dims[d], move.to.dims[d]);
    if (!ends.from.empty() && !ends.to.empty()) {
      return false;
    }
  }
  return true;
}

// Whether blocks cut by one list of axes are those that the other one cuts, in another order.
bool same_blocks(const MoveCheck& move) {
  for (std::size_t d = 0; d < move.shape.rank(); ++d) {
    const Axes& from = move.from.dims[d];
    const Axes& to = move.to.dims[d];
    const std::int64_t ways = move.mesh.size_of(from);
    if (from != to && (ways != move.mesh.size_of(to) || move.shape[d].size % ways != 0)) {
      return false;
    }
  }
  return true;
}

// Whether a rank's block of a dim lies within those of its group: each axis that cuts the dim is
// one along which the group lies, or cuts what the rank is to have in the same way.
bool lies_around(const MoveCheck& move, const Axes& group, std::size_t dim) {
  const Axes& from = move.from.dims[dim];
  const AxisId* rest = from.begin();
  if (std::ranges::find(move.to.reach, dim, &Reach::dim) == move.to.reach.end()) {
    rest = std::ranges::mismatch(from, move.to.dims[dim]).in1;
  }
  return std::all_of(rest, from.end(), [&](AxisId axis) { return has(group, axis); });
}

// Whether each rank finds all that it needs of every dim in its group, each element once.
bool group_has_all(const MoveCheck& move, const Axes& group) {
  Axes cut;
  for (std::size_t d = 0; d < move.shape.rank(); ++d) {
    if (!lies_around(move, group, d)) {
      return false;
    }
    cut.insert(cut.end(), move.from.dims[d].begin(), move.from.dims[d].end());
  }
  return std::ranges::all_of(group, [&](AxisId axis) { return has(cut, axis); });
}

// The ranks that meet; a slice is of what each has itself.
Axes group_of(const MoveCheck& move) {
  return move.kind == StepKind::kSlice ? Axes{} : move.axes;
}

// Whether each rank's slice is made of those of its group. False: look at the ranks.
bool fits_by_axes(const MoveCheck& move) {
  const bool touches_holders = std::ranges::any_of(move.axes, [&](AxisId axis) {
    return condition_on(move.from, axis) != nullptr || is_compared(move.from, axis);
  });
  if (move.from.where != move.to.where || touches_holders) {
    return false;
  }
  if (move.kind == StepKind::kHaloExchange || !move.to.reach.empty()) {
    const bool is_known = move.kind == StepKind::kHaloExchange || move.kind == StepKind::kSlice;
    return is_known && move.from.reach.empty() && group_has_all(move, group_of(move));
  }
  const auto in_group = [&](AxisId axis) { return has(move.axes, axis); };
  const Ends ends = ends_of(move.from, move.to);
  switch (move.kind) {
    case StepKind::kSlice:
      return ends.from.empty();
    case StepKind::kAllGather:
      return ends.to.empty() && same_axes(ends.from, move.axes);
    case StepKind::kAllToAll:
      return same_axes(ends.from, move.axes) && no_dim_turns(move);
    case StepKind::kPermute:
      return std::ranges::all_of(ends.from, in_group) && std::ranges::all_of(ends.to, in_group) &&
             same_blocks(move);
    case StepKind::kAllReduce:
      return ends.from.empty() && ends.to.empty();
    case StepKind::kReduceScatter:
      return ends.from.empty() &&
             std::ranges::all_of(move.axes, [&](AxisId axis) { return has(ends.to, axis); });
    case StepKind::kExclusiveScan:
    case StepKind::kSortExchange:
      return ends.from.empty() && ends.to.empty();
    case StepKind::kHaloExchange:
    case StepKind::kServe:
    case StepKind::kKernel:
    case StepKind::kBroadcast:
    case StepKind::kReduce:
      break;
  }
  return false;
}

// ---- slices, rank by rank ----------------------------------------------------------------------

bool same_slice(const Slice& a, const Slice& b) {
  return a.offset == b.offset && a.extent == b.extent;
}

// Of the members of a rank's group.
struct GroupCounts {
  std::size_t holders = 0;
  std::size_t equal = 0;   // whose slice is the one that the rank is to have
  std::size_t wanted = 0;  // that need the same slice
  std::size_t around = 0;  // whose slice has all of this one
  std::int64_t received = 0;
  bool again = false;  // what another member has as well
};

GroupCounts counts_of(const MoveCheck& move, const Slice& mine,
                      const std::vector<std::int64_t>& members) {
  GroupCounts counts;
  std::set<std::vector<std::int64_t>> parts;  // of one layout, so apart from each other or the same
  for (const std::int64_t member : members) {
    const Slice theirs = slice_of(move.shape, move.from, move.mesh, member);
    const Slice needed = slice_of(move.shape, move.to, move.mesh, member);
    const std::int64_t common = volume_of(intersection(theirs, mine));
    const bool is_held = holds(move.from, move.mesh, member);
    counts.again = counts.again || (common > 0 && !parts.insert(theirs.offset).second);
    counts.holders += static_cast<std::size_t>(is_held);
    counts.equal += static_cast<std::size_t>(is_held && same_slice(theirs, mine));
    counts.wanted += static_cast<std::size_t>(same_slice(needed, mine));
    counts.around += static_cast<std::size_t>(common == volume_of(mine));
    counts.received += common;
  }
  return counts;
}

// "" or what is wrong with what a rank gets from the members of its group.
std::string problem_on_rank(const MoveCheck& move, std::int64_t rank,
                            const std::vector<std::int64_t>& members) {
  const Slice mine = slice_of(move.shape, move.to, move.mesh, rank);
  const auto [holders, equal, wanted, around, received, again] = counts_of(move, mine, members);
  switch (move.kind) {
    case StepKind::kPermute:
      return equal == wanted ? "" : "needs a slice that too few in its group have";
    case StepKind::kBroadcast:
      return holders == 1 && equal == 1 ? "" : "is not sent its slice by just one rank";
    case StepKind::kAllReduce:
    case StepKind::kReduce:
      return equal == members.size() ? "" : "would sum up slices of different places";
    case StepKind::kReduceScatter:
      return around == members.size() ? "" : "would receive sums of what not all have";
    default:
      return received == volume_of(mine) && !again
                 ? ""
                 : "would not receive each part of its slice once";
  }
}

// Coordinates on an axis whose ranks stand for all: both ends, the one beside the first, and those
// that conditions name.
std::vector<std::int64_t> typical_coordinates(const MoveCheck& move, AxisId axis) {
  const std::int64_t size = move.mesh.axes[axis].size;
  std::set<std::int64_t> coordinates = {0, std::min<std::int64_t>(1, size - 1), size - 1};
  for (const ValueLayout* layout : {&move.from, &move.to}) {
    for (const Condition& condition : layout->where) {
      if (condition.axis == axis && !condition.same) {
        coordinates.insert(condition.at);
      }
    }
  }
  return {coordinates.begin(), coordinates.end()};
}

constexpr std::int64_t kMostPairs = 1 << 20;  // of a rank and a member of its group

// All ranks; of a mesh with many, those that stand for the others.
std::vector<std::int64_t> ranks_to_check(const MoveCheck& move, const Axes& group) {
  if (move.mesh.ranks() * move.mesh.size_of(group) <= kMostPairs) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(move.mesh.ranks()));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    return all;
  }
  std::vector<std::int64_t> ranks = {0};
  for (std::size_t a = 0; a < move.mesh.axes.size(); ++a) {
    std::vector<std::int64_t> longer;
    for (const std::int64_t rank : ranks) {
      for (const std::int64_t at : typical_coordinates(move, static_cast<AxisId>(a))) {
        longer.push_back(rank * move.mesh.axes[a].size + at);
      }
    }
    ranks = std::move(longer);
  }
  return ranks;
}

std::string problem_by_ranks(const MoveCheck& move) {
  const Axes group = group_of(move);
  std::int64_t pairs = 0;
  for (const std::int64_t rank : ranks_to_check(move, group)) {
    if (pairs > kMostPairs) {
      break;  // groups of a million
    }
    pairs += move.mesh.size_of(group);
    if (!holds(move.to, move.mesh, rank)) {
      continue;
    }
    const std::vector<std::int64_t> members = move.mesh.group_of(rank, group);
    const auto others = std::ranges::count_if(
        members, [&](std::int64_t other) { return holds(move.to, move.mesh, other); });
    std::string problem = move.kind == StepKind::kReduce && others > 1
                              ? "shares a sum that one rank is to have"
                              : problem_on_rank(move, rank, members);
    if (!problem.empty()) {
      return "is wrong: rank " + std::to_string(rank) + " " + problem;
    }
  }
  return "";
}

}  // namespace

std::string problem_of_move(const MoveCheck& move) {
  if (std::string problem = problem_of_sums(move); !problem.empty()) {
    return problem;
  }
  return fits_by_axes(move) ? "" : problem_by_ranks(move);
}

// What is over the same axes cannot be a sum of what the same message makes.
std::string problem_of_messages(const SpmdProgram& program) {
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    const bool goes_on = s > 0 && program.steps[s - 1].with_next;
    const std::string where = "step " + std::to_string(s);
    if ((goes_on || step.with_next) && !may_be_packed(program, step)) {
      return where + " is nothing that goes in one message with others";
    }
    if (goes_on && !fit_together(program, program.steps[s - 1], step)) {
      return where + " goes in one message with what it does not fit";
    }
    if (step.with_next && s + 1 == program.steps.size()) {
      return where + " goes in one message with a step that is not there";
    }
  }
  return "";
}

std::string problem_of_layout(const Mesh& mesh, const Shape& shape, const ValueLayout& layout) {
  if (layout.dims.size() != shape.rank()) {
    return "has a layout of another rank";
  }
  std::vector<char> used(mesh.axes.size(), 0);
  const auto take = [&used](AxisId axis) { return axis < used.size() && used[axis]++ == 0; };
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if (!std::ranges::all_of(layout.dims[d], take)) {
      return "uses an axis twice";
    }
    const auto reach = std::ranges::find(layout.reach, d, &Reach::dim);
    if (!mesh.splits(reach == layout.reach.end() ? shape[d].size : reach->size, layout.dims[d])) {
      return "has blocks of " + shape[d].name + " that do not come out even";
    }
  }
  if (!std::ranges::all_of(layout.partial, take)) {
    return "uses an axis twice, once for a partial sum";
  }
  if (!std::ranges::all_of(layout.where, take, &Condition::axis)) {
    return "uses an axis twice, once for a condition";
  }
  return can_hold(layout, layout.where) ? "" : "has a condition that says nothing";
}

}  // namespace mtf
