// The bounds by roles on all meshes of a space, each made when it is first asked for.

#pragma once

#include <map>
#include <memory>
#include <vector>

#include "lowering/search/bound/role_bound.h"
#include "lowering/search/pricer.h"

namespace mtf {

class RoleBounds {
 public:
  RoleBounds(const SearchSpace& space, const Pricer& pricer, Objective objective);

  [[nodiscard]] RoleBound& on(std::size_t mesh);
  // A candidate to which nothing is to be added.
  [[nodiscard]] Partial whole(LayoutCandidate candidate) const;
  // Decisions that make a candidate.
  [[nodiscard]] std::size_t decisions() const;
  // Of all candidates, when nothing is decided: of the objective, and of bytes that a rank has.
  [[nodiscard]] double least_of_all(Reaches reaches = Reaches::kRest);
  [[nodiscard]] double least_memory();

 private:
  const SearchSpace& space_;
  const Pricer& pricer_;
  Objective objective_;
  std::map<const Program*, RoleOperations> operations_;  // by the first entry on a mesh
  std::vector<std::unique_ptr<RoleBound>> bounds_;       // per mesh
};

}  // namespace mtf
