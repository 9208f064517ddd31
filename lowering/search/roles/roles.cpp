#include "lowering/search/roles/roles.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace mtf {

Roles::Roles(const SearchSpace& space, const Pricer& pricer, Objective objective)
    : space_(space),
      pricer_(pricer),
      objective_(objective),
      bounds_(space.meshes().size()),
      estimates_(space.meshes().size()) {}

const RoleOperations& Roles::operations(std::size_t mesh) {
  const std::span<const Program> programs = pricer_.programs(mesh);
  return operations_.try_emplace(programs.data(), space_, programs).first->second;
}

RoleBound& Roles::bound(std::size_t mesh) {
  if (bounds_[mesh] == nullptr) {
    bounds_[mesh] = std::make_unique<RoleBound>(space_, mesh, operations(mesh),
                                                pricer_.hardware(mesh), objective_);
  }
  return *bounds_[mesh];
}

RoleCost::Figures Roles::estimate(const LayoutCandidate& candidate) {
  std::unique_ptr<RoleEstimate>& estimate = estimates_[candidate.mesh];
  if (estimate == nullptr) {
    estimate = std::make_unique<RoleEstimate>(space_, candidate.mesh, operations(candidate.mesh),
                                              pricer_.hardware(candidate.mesh), objective_);
  }
  return estimate->of(candidate);
}

std::size_t Roles::decisions() const {
  return 2 * space_.dims().size() + space_.axes();
}

Partial Roles::whole(LayoutCandidate candidate) const {
  return {.candidate = std::move(candidate), .decided = decisions()};
}

double Roles::least_of_all(Reaches reaches) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t m = 0; m < bounds_.size(); ++m) {
    const Partial nothing{.candidate = space_.unsplit(m), .decided = 0, .reaches = reaches};
    least = std::min(least, bound(m).least(nothing));
  }
  return least;
}

double Roles::least_memory() {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t m = 0; m < bounds_.size(); ++m) {
    const Partial nothing{.candidate = space_.unsplit(m), .decided = 0};
    least = std::min(least, bound(m).least_memory(nothing));
  }
  return least;
}

}  // namespace mtf
