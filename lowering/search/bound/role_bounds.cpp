#include "lowering/search/bound/role_bounds.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace mtf {

RoleBounds::RoleBounds(const SearchSpace& space, const Pricer& pricer, Objective objective)
    : space_(space), pricer_(pricer), objective_(objective), bounds_(space.meshes().size()) {}

RoleBound& RoleBounds::on(std::size_t mesh) {
  if (bounds_[mesh] == nullptr) {
    const std::span<const Program> programs = pricer_.programs(mesh);
    const auto known = operations_.try_emplace(programs.data(), space_, programs).first;
    bounds_[mesh] = std::make_unique<RoleBound>(space_, mesh, known->second, pricer_.hardware(mesh),
                                                objective_);
  }
  return *bounds_[mesh];
}

std::size_t RoleBounds::decisions() const {
  return 2 * space_.dims().size() + space_.axes();
}

Partial RoleBounds::whole(LayoutCandidate candidate) const {
  return {.candidate = std::move(candidate), .decided = decisions()};
}

double RoleBounds::least_of_all(Reaches reaches) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t m = 0; m < bounds_.size(); ++m) {
    const Partial nothing{.candidate = space_.unsplit(m), .decided = 0, .reaches = reaches};
    least = std::min(least, on(m).least(nothing));
  }
  return least;
}

double RoleBounds::least_memory() {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t m = 0; m < bounds_.size(); ++m) {
    const Partial nothing{.candidate = space_.unsplit(m), .decided = 0};
    least = std::min(least, on(m).least_memory(nothing));
  }
  return least;
}

}  // namespace mtf
