#include "tests/unit/layouts/search/drawn_layout.h"

#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {

SpaceLimits limits_on(const std::vector<std::int64_t>& sizes, bool uneven) {
  SpaceLimits limits;
  limits.fixed.name = "found";
  limits.fixed.mesh = mesh_of(sizes);
  limits.fixed.mesh.uneven = uneven;
  limits.meshes = {limits.fixed.mesh};
  return limits;
}

LayoutCandidate drawn_layout(const SearchSpace& space, std::mt19937_64& random,
                             std::uint64_t own_rules) {
  LayoutCandidate candidate = space.unsplit(0);
  for (std::size_t d = 0; d < space.dims().size(); ++d) {
    const std::vector<Axes>& choices = space.choices(0, d);
    candidate.rules[d] = choices[random() % 2 == 0 ? 0 : random() % choices.size()];
  }
  for (std::size_t a = 0; a < space.axes(); ++a) {
    const std::vector<DimSet> sets = space.variable_sets(0, static_cast<AxisId>(a));
    if (!sets.empty() && random() % own_rules == 0) {
      candidate.variables[a] = sets[random() % sets.size()];
    }
  }
  candidate.rest = random() % 2 == 0 ? 0 : random() % only(space.dims().size());
  candidate.again = random() % 4 == 0;
  candidate.stream = random() % 4 == 0 ? 4 : 1;
  return candidate;
}

}  // namespace mtf::tests
