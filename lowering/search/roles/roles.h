// What the roles of dims say of candidates, on all meshes of a space: bounds and estimates, each
// made when it is first asked for.

#pragma once

#include <map>
#include <memory>
#include <vector>

#include "lowering/search/pricer.h"
#include "lowering/search/roles/role_bound.h"
#include "lowering/search/roles/role_estimate.h"

namespace mtf {

class Roles {
 public:
  Roles(const SearchSpace& space, const Pricer& pricer, Objective objective);

  [[nodiscard]] RoleBound& bound(std::size_t mesh);
  [[nodiscard]] RoleCost::Figures estimate(const LayoutCandidate& candidate);
  // A candidate to which nothing is to be added.
  [[nodiscard]] Partial whole(LayoutCandidate candidate) const;
  // Decisions that make a candidate.
  [[nodiscard]] std::size_t decisions() const;
  // Of all candidates, when nothing is decided: of the objective, and of bytes that a rank has.
  [[nodiscard]] double least_of_all(Reaches reaches = Reaches::kRest);
  [[nodiscard]] double least_memory();

 private:
  [[nodiscard]] const RoleOperations& operations(std::size_t mesh);

  const SearchSpace& space_;
  const Pricer& pricer_;
  Objective objective_;
  std::map<const Program*, RoleOperations> operations_;  // by the first entry on a mesh
  std::vector<std::unique_ptr<RoleBound>> bounds_;       // per mesh
  std::vector<std::unique_ptr<RoleEstimate>> estimates_;
};

}  // namespace mtf
