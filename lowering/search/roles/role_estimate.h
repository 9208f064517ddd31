// What a candidate will cost by all likelihood, with no plan: a local search looks at many more
// candidates than it has time to plan, and plans those that seem best. No answer is priced by it.

#pragma once

#include <optional>
#include <string>

#include "lowering/search/roles/role_cost.h"
#include "lowering/search/space/space.h"

namespace mtf {

class RoleEstimate {
 public:
  // `operations` and `hardware` outlive it.
  RoleEstimate(const SearchSpace& space, std::size_t mesh, const RoleOperations& operations,
               const Hardware& hardware, Objective objective);

  // The most that a rank holds, beside the value; infinite where a `*` cannot be what it says.
  [[nodiscard]] RoleCost::Figures of(const LayoutCandidate& candidate);
  [[nodiscard]] std::int64_t looks() const { return cost_.looks(); }
  // Where each tensor rests, and whether by a name or by a `*`.
  [[nodiscard]] std::string look(const LayoutCandidate& candidate) const;

 private:
  // As tensors rest, and as they are used.
  [[nodiscard]] std::optional<RolePlaces> at_rest(const LayoutCandidate& candidate) const;
  [[nodiscard]] RolePlaces in_use(const LayoutCandidate& candidate, RolePlaces places) const;
  [[nodiscard]] bool place_rest(const LayoutCandidate& candidate, std::size_t tensor,
                                RolePlaces& places) const;
  [[nodiscard]] bool place_unused(std::size_t tensor, std::size_t dim, RolePlaces& places) const;
  [[nodiscard]] double bytes(const LayoutCandidate& candidate, const RolePlaces& resting) const;
  [[nodiscard]] double bytes(const LayoutCandidate& candidate, const RoleOperations::Memory& memory,
                             const RolePlaces& resting, const RolePlaces& used_as) const;

  const SearchSpace& space_;
  const Mesh& mesh_;
  const RoleOperations& operations_;
  Objective objective_;
  RoleCost cost_;
};

}  // namespace mtf
