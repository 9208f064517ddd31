// Rules of groups of variables, in the space of layouts.

#include <algorithm>

#include "lowering/search/space/groups.h"
#include "lowering/search/space/space.h"

namespace mtf {

void SearchSpace::find_groups(std::span<const Program> programs) {
  std::vector<VariableGroup> groups;
  if (may_vary_variables()) {
    groups = variable_groups(programs);
  }
  if (limits_.lets) {
    std::ranges::move(let_groups(programs), std::back_inserter(groups));
  }
  for (const VariableGroup& group : groups) {
    Group found{
        .glob = group.glob, .dims = 0, .members = group.members, .shapes = {}, .lets = group.lets};
    for (const Shape& shape : group.shapes) {
      found.shapes.push_back(set_of(shape));
      found.dims |= found.shapes.back();
    }
    if (found.dims != 0) {
      groups_.push_back(std::move(found));
    }
  }
}

// Of all variables, or of all that is computed.
Axes SearchSpace::axes_of_others(const LayoutCandidate& candidate, const GroupAxes& own,
                                 std::size_t dim) const {
  return groups_[own.group].lets ? candidate.rules[dim] : variable_axes(candidate, dim);
}

// As the others have them where the group is not told otherwise, then what comes to it.
Axes SearchSpace::group_axes(const LayoutCandidate& candidate, const GroupAxes& own,
                             std::size_t dim) const {
  return axes_under(axes_of_others(candidate, own, dim), own.axes, dim);
}

// Rules for the dims that are not as those of the others.
VariableRules SearchSpace::block_of(const LayoutCandidate& candidate, const GroupAxes& own) const {
  const Group& group = groups_[own.group];
  VariableRules block{
      .glob = group.glob, .rules = {}, .span = limits_.fixed.span, .lets = group.lets};
  for (const std::size_t d : rule_order(candidate)) {
    Axes list = mtf::has(group.dims, d) ? group_axes(candidate, own, d) : Axes();
    if (mtf::has(group.dims, d) && list != axes_of_others(candidate, own, d)) {
      const bool rest = mtf::has(candidate.rest, d) && !list.empty();
      block.rules.push_back(
          {.dim = dims_[d], .axes = std::move(list), .span = block.span, .rest = rest});
    }
  }
  return block;
}

// Whether no variable of the group would be split twice over an axis, and all sizes divide.
bool SearchSpace::fits(const LayoutCandidate& candidate, const GroupAxes& own) const {
  const Mesh& mesh = limits_.meshes[candidate.mesh];
  const Group& group = groups_[own.group];
  for (const DimSet axis : own.axes) {
    if (axis != kAsRules && splits_twice(group.shapes, axis)) {
      return false;
    }
  }
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    if (mtf::has(group.dims, d) && !splits_all(mesh, d, group_axes(candidate, own, d))) {
      return false;
    }
  }
  return true;
}

}  // namespace mtf
