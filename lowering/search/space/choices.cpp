// Over which axes of a mesh each dim may be split.

#include <algorithm>
#include <iterator>
#include <utility>

#include "lowering/search/space/space.h"

namespace mtf {
namespace {

constexpr std::size_t kMostOrdered = 7;  // axes, of which there are 13,700 ordered lists

// All ordered lists of these axes, the shorter ones first. Of too many axes, all in the order of
// the mesh, and of those in other orders the short ones.
std::vector<Axes> ordered_lists(const Axes& axes) {
  constexpr std::size_t kShort = 4;
  const bool are_few = axes.size() <= kMostOrdered;
  std::vector<Axes> lists = {{}};
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (const AxisId axis : axes) {
      if (has(lists[i], axis)) {
        continue;
      }
      Axes longer = lists[i];
      longer.push_back(axis);
      if (are_few || longer.size() <= kShort || std::ranges::is_sorted(longer)) {
        lists.push_back(std::move(longer));
      }
    }
  }
  return lists;
}

}  // namespace

bool SearchSpace::leaves_out_orders() const {
  return std::ranges::any_of(
      meshes(), [](const Mesh& mesh) { return splitting_axes(mesh).size() > kMostOrdered; });
}

void SearchSpace::find_choices() {
  for (const Mesh& mesh : limits_.meshes) {
    const std::vector<Axes> lists = ordered_lists(splitting_axes(mesh));
    std::vector<std::vector<Axes>> of_dims(dims_.size());
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      if (is_fixed(d)) {
        of_dims[d] = {std::ranges::find(limits_.fixed.rules, dims_[d], &Rule::dim)->axes};
        continue;
      }
      std::ranges::copy_if(lists, std::back_inserter(of_dims[d]),
                           [&](const Axes& list) { return splits_all(mesh, d, list); });
    }
    choices_.push_back(std::move(of_dims));
  }
}

}  // namespace mtf
