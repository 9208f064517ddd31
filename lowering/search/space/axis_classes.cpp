// Axes that are alike: of one size, on the same links, and named by nothing that is not searched.
// Layouts in which they take each other's place cost the same (but that plans may break ties
// otherwise, by less than a thousandth), and one of them is planned.
//
// Where dims have a `*`, or follow, the order of the mesh decides, and none is the same as another.

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "lowering/search/space/space.h"

namespace mtf {
namespace {

// The names of axes that something puts where it is, and whether it has a `*` as well.
struct NamedAxes {
  std::set<std::string> names;
  bool rest = false;

  void add(const NamedRule& rule) {
    names.insert(rule.axes.begin(), rule.axes.end());
    rest = rest || rule.rest;
    for (const NamedCondition& condition : rule.where) {
      names.insert(condition.axis);
      names.insert(condition.same.value_or(condition.axis));
    }
  }
  void add(const Layout& layout) {
    for (const Rule& rule : layout.rules) {
      add(named(rule, layout.mesh));
    }
    for (const VariableRules& block : layout.variables) {
      for (const Rule& rule : block.rules) {
        add(named(rule, layout.mesh));
      }
    }
  }
  void add(const Program& program) {
    std::ranges::for_each(program.regions, [this](const Layout& region) { add(region); });
    for (const Value& value : program.values) {
      if (const Pin* pin = value.args.get<Pin>("layout")) {
        std::ranges::for_each(pin->rules, [this](const NamedRule& rule) { add(rule); });
      }
    }
  }
};

// Where an axis stands among the links, if the ranks below `near` are on one machine: beyond all of
// that, within all of it, or, where a machine has a part of it, alone.
std::int64_t place_among_links(const Mesh& mesh, std::size_t axis, std::int64_t near) {
  if (near <= 1 || near >= mesh.ranks()) {
    return -1;
  }
  const std::vector<std::int64_t> at = mesh.coordinates(near);
  const auto splits = [](std::int64_t coordinate) { return coordinate > 0; };
  const auto first = std::ranges::find_if(at, splits) - at.begin();
  const auto last = std::ranges::find_if(at.rbegin(), at.rend(), splits).base() - at.begin() - 1;
  const auto here = static_cast<std::ptrdiff_t>(axis);
  const bool is_whole = first == last && at[static_cast<std::size_t>(first)] == 1;
  if (here < first || (here == first && is_whole)) {
    return -1;
  }
  return here > last ? -2 : here;
}

Axes renamed(const Axes& axes, const Axes& names) {
  Axes result;
  std::ranges::transform(axes, std::back_inserter(result),
                         [&names](AxisId axis) { return names[axis]; });
  return result;
}

std::vector<DimSet> renamed(const std::vector<DimSet>& of_axes, const Axes& names) {
  std::vector<DimSet> result = of_axes;
  for (std::size_t a = 0; a < of_axes.size(); ++a) {
    result[names[a]] = of_axes[a];
  }
  return result;
}

LayoutCandidate renamed(LayoutCandidate candidate, const Axes& names) {
  for (Axes& axes : candidate.rules) {
    axes = renamed(axes, names);
  }
  candidate.variables = renamed(candidate.variables, names);
  for (GroupAxes& group : candidate.groups) {
    group.axes = renamed(group.axes, names);
  }
  return candidate;
}

Axes as_they_are(std::size_t axes) {
  Axes names;
  for (std::size_t a = 0; a < axes; ++a) {
    names.push_back(static_cast<AxisId>(a));
  }
  return names;
}

}  // namespace

void SearchSpace::find_axis_classes(std::span<const Program> programs) {
  axis_classes_.resize(meshes().size());
  NamedAxes said;
  said.add(limits_.fixed);
  for (const Program& program : programs) {
    said.add(program);
  }
  for (std::size_t m = 0; m < limits_.near_ranks.size() && !said.rest; ++m) {
    const Mesh& mesh = meshes()[m];
    const std::int64_t near = limits_.near_ranks[m];
    std::map<std::pair<std::int64_t, std::int64_t>, Axes> alike;
    for (const AxisId axis : splitting_axes(mesh)) {
      if (!said.names.contains(mesh.axes[axis].name)) {
        alike[{mesh.axes[axis].size, place_among_links(mesh, axis, near)}].push_back(axis);
      }
    }
    for (auto& [what, axes] : alike) {
      if (axes.size() > 1) {
        axis_classes_[m].push_back(std::move(axes));
      }
    }
  }
}

// Those of a class in the order in which rules name them; those that none names come behind, by
// what they split of variables.
Axes SearchSpace::by_appearance(const LayoutCandidate& candidate, const Axes& axes) {
  Axes order;
  for (const Axes& rule : candidate.rules) {
    std::ranges::copy_if(rule, std::back_inserter(order),
                         [&axes](AxisId axis) { return mtf::has(axes, axis); });
  }
  Axes once;
  for (const AxisId axis : order) {
    if (!mtf::has(once, axis)) {
      once.push_back(axis);
    }
  }
  const std::size_t named = once.size();
  std::ranges::copy_if(axes, std::back_inserter(once),
                       [&order](AxisId axis) { return !mtf::has(order, axis); });
  std::stable_sort(
      once.begin() + static_cast<std::ptrdiff_t>(named), once.end(),
      [&](AxisId a, AxisId b) { return candidate.variables[a] < candidate.variables[b]; });
  return once;
}

bool SearchSpace::begins_in_order(const LayoutCandidate& candidate) const {
  return std::ranges::all_of(axis_classes_[candidate.mesh], [&](const Axes& axes) {
    std::size_t seen = 0;
    for (const Axes& rule : candidate.rules) {
      for (const AxisId axis : rule) {
        const auto number = std::ranges::find(axes, axis) - axes.begin();
        if (number < std::ssize(axes) && static_cast<std::size_t>(number) > seen) {
          return false;
        }
        seen += static_cast<std::size_t>(number) == seen ? 1 : 0;
      }
    }
    return true;
  });
}

LayoutCandidate SearchSpace::with_axes_in_order(const LayoutCandidate& candidate) const {
  if (candidate.rest != 0 || candidate.infer || !candidate.groups.empty()) {
    return candidate;
  }
  Axes names = as_they_are(axes());
  for (const Axes& alike : axis_classes_[candidate.mesh]) {
    const Axes order = by_appearance(candidate, alike);
    for (std::size_t i = 0; i < alike.size(); ++i) {
      names[order[i]] = alike[i];
    }
  }
  LayoutCandidate result = renamed(candidate, names);
  // What comes to variables comes in the order of the mesh, which has to be the same.
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    if (variable_axes(result, d) != renamed(variable_axes(candidate, d), names)) {
      return candidate;
    }
  }
  return result;
}

bool SearchSpace::differs_by_axes(const LayoutCandidate& candidate) {
  const auto is_own = [](DimSet dims) { return dims != kAsRules; };
  return candidate.rest != 0 || candidate.infer || !candidate.groups.empty() ||
         std::ranges::any_of(candidate.variables, is_own);
}

std::int64_t SearchSpace::exchanges(const LayoutCandidate& candidate) const {
  std::int64_t count = 1;
  for (const Axes& axes : axis_classes_[candidate.mesh]) {
    for (std::size_t i = 2; differs_by_axes(candidate) && i <= axes.size(); ++i) {
      count *= static_cast<std::int64_t>(i);
    }
  }
  return count;
}

bool SearchSpace::all_exchanged(const LayoutCandidate& candidate, const Judged& judged) const {
  const std::vector<Axes>& classes = axis_classes_[candidate.mesh];
  Axes names = as_they_are(axes());
  const auto from = [&](const auto& self, std::size_t number) -> bool {
    if (number == classes.size()) {
      return judged(renamed(candidate, names));
    }
    Axes order = classes[number];
    do {
      for (std::size_t i = 0; i < order.size(); ++i) {
        names[classes[number][i]] = order[i];
      }
      if (!self(self, number + 1)) {
        return false;
      }
    } while (std::ranges::next_permutation(order).found);
    return true;
  };
  return differs_by_axes(candidate) ? from(from, 0) : judged(candidate);
}

}  // namespace mtf
