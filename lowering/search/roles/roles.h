// What the roles of dims say of candidates, on all meshes of a space: bounds and estimates, each
// made when it is first asked for.

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lowering/search/pricer.h"
#include "lowering/search/roles/role_bound.h"
#include "lowering/search/roles/role_estimate.h"

namespace mtf {

class Roles {
 public:
  // `memory`: that what is sought takes at most, or 0.
  Roles(const SearchSpace& space, Pricer& pricer, Objective objective, double memory = 0);

  // What all candidates cost at least that begin so.
  [[nodiscard]] RoleBound::Least least(const Partial& partial);
  [[nodiscard]] RoleCost::Figures estimate(const LayoutCandidate& candidate);
  // Where tensors lie: candidates that look alike are planned alike, by all likelihood.
  [[nodiscard]] std::string look(const LayoutCandidate& candidate);
  // A candidate to which nothing is to be added.
  [[nodiscard]] Partial whole(LayoutCandidate candidate) const;
  // Decisions that make a candidate.
  [[nodiscard]] std::size_t decisions() const;
  // Of all candidates that may fit so many bytes, if there are any (0: of all), when nothing is
  // decided: of the objective. And of all the bytes that a rank has.
  [[nodiscard]] double least_of_all(double memory, Reaches reaches = Reaches::kRest);
  [[nodiscard]] double least_memory();

 private:
  using Beginning = std::pair<std::size_t, bool>;  // the mesh, and whether blocks recompute

  [[nodiscard]] const RoleOperations& operations(const LayoutCandidate& candidate);
  template <typename Made, typename... More>
  [[nodiscard]] Made& kept(std::map<Beginning, Made>& all, const LayoutCandidate& candidate,
                           More... more);
  // Of what begins as the candidate does: its mesh, and what it recomputes.
  [[nodiscard]] RoleBound& bound(const LayoutCandidate& candidate);
  [[nodiscard]] RoleEstimate& estimating(const LayoutCandidate& candidate);

  const SearchSpace& space_;
  Pricer& pricer_;  // which keeps count of the work
  Objective objective_;
  double memory_ = 0;
  std::map<const Program*, RoleOperations> operations_;  // by the first entry
  std::map<Beginning, RoleBound> bounds_;
  std::map<Beginning, RoleEstimate> estimates_;
};

}  // namespace mtf
