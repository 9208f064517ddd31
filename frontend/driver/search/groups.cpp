// Rules of single variables, by globs, beside those of all: what makes the answer better.

#include <algorithm>
#include <utility>

#include "frontend/driver/search/searching.h"

namespace mtf {
namespace {

// The candidate with one axis of a group on other dims.
LayoutCandidate with_group(LayoutCandidate candidate, std::size_t group, std::size_t axis,
                           DimSet dims) {
  auto place = candidate.groups.begin();
  while (place != candidate.groups.end() && place->group < group) {
    ++place;
  }
  if (place == candidate.groups.end() || place->group != group) {
    const std::vector<DimSet> as_rules(candidate.variables.size(), kAsRules);
    place = candidate.groups.insert(place, {.group = group, .axes = as_rules});
  }
  place->axes[axis] = dims;
  std::erase_if(candidate.groups, [](const GroupAxes& own) {
    return std::ranges::all_of(own.axes, [](DimSet of_axis) { return of_axis == kAsRules; });
  });
  return candidate;
}

// No dims, those of all variables, or one of its own.
std::vector<DimSet> choices_of(const SearchSpace::Group& group, std::size_t dims) {
  std::vector<DimSet> choices = {kAsRules, 0};
  for (std::size_t d = 0; d < dims; ++d) {
    if (has(group.dims, d)) {
      choices.push_back(only(d));
    }
  }
  return choices;
}

}  // namespace

// Whether this is so much better that it is worth a rule.
bool Searching::pays(const Priced& other, const Priced& now) const {
  constexpr double kWorth = 0.995;
  const Merit theirs = merit_of(other, goal_);
  const Merit ours = merit_of(now, goal_);
  return theirs.is_legal && theirs.excess <= ours.excess * kWorth &&
         (theirs.excess < ours.excess || theirs.value <= ours.value * kWorth);
}

// One change after the other that pays; false: none does, or the work is done.
bool Searching::change_groups(std::int64_t most) {
  const LayoutCandidate before = answer_;
  const Mesh& mesh = space_.meshes()[answer_.mesh];
  for (std::size_t g = 0; g < space_.groups().size(); ++g) {
    for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
      for (const DimSet dims : choices_of(space_.groups()[g], space_.dims().size())) {
        LayoutCandidate other = with_group(answer_, g, a, dims);
        const bool is_other = mesh.axes[a].size > 1 && other != answer_;
        if (is_other && pricer_.work() < most && space_.is_consistent(other) &&
            pays(pricer_.price(other), pricer_.price(answer_))) {
          answer_ = std::move(other);
        }
      }
    }
  }
  return answer_ != before;
}

void Searching::give_groups_rules() {
  constexpr int kMostPasses = 3;
  const std::int64_t most = all_work_;
  const LayoutCandidate before = answer_;
  for (int pass = 0; pass < kMostPasses && change_groups(most); ++pass) {
  }
  if (!pays(pricer_.price_whole(answer_), pricer_.price_whole(before))) {
    answer_ = before;
  }
}

}  // namespace mtf
