// What every layout costs at least that begins as a candidate does: from the roles of dims alone,
// with no plan.
//
// Each product is done by as many ranks as may have parts of its tensors, however its loops are
// split; where a summed loop is split, the sum is brought to where the rules have the result; an
// input that is kept in parts is gathered where it is read whole. What is made in parts that the
// rules do not ask for is gathered where something reads it whole, which may be never: while an
// axis splits anything, it may split all but inputs. Whatever is not decided yet is taken to cost
// nothing. Or, wherever tensors lie: what they must cost on the way between products
// (passage.h), which is the more of the two while little is decided. A branch-and-bound search
// leaves out what this shows to be worse.

#pragma once

#include <cstdint>

#include "lowering/search/roles/role_cost.h"
#include "lowering/search/space/space.h"

namespace mtf {

// How much a candidate may say: the rules of dims; those of variables as well; `*`, too.
enum class Reaches : std::uint8_t { kRules, kVariables, kRest };

// The first decisions of a candidate are made: rules by dim, then the variables by axis, then `*`
// by dim.
struct Partial {
  LayoutCandidate candidate;
  std::size_t decided = 0;
  Reaches reaches = Reaches::kRest;
};

// The dim of the tensor that the rules split over the axis, or kNowhere.
[[nodiscard]] std::int8_t ruled_place(const LayoutCandidate& candidate, const RoleTensor& tensor,
                                      AxisId axis);

class RoleBound {
 public:
  // `operations` and `hardware` outlive it. Of candidates that take no more than `memory`; 0: of
  // all.
  RoleBound(const SearchSpace& space, std::size_t mesh, const RoleOperations& operations,
            const Hardware& hardware, Objective objective, double memory = 0);

  struct Least {
    double value = 0;  // of the objective
    double bytes = 0;  // that a rank has at some time
  };
  [[nodiscard]] Least least(const Partial& partial);
  [[nodiscard]] std::int64_t looks() const { return cost_.looks(); }

 private:
  [[nodiscard]] double bytes(const RolePlaces& places) const;
  [[nodiscard]] std::int8_t place(const Partial& partial, const RoleTensor& tensor,
                                  AxisId axis) const;
  [[nodiscard]] bool may_be_used(const Partial& partial, AxisId axis) const;

  const SearchSpace& space_;
  const Mesh& mesh_;
  const RoleOperations& operations_;
  Objective objective_;
  double memory_ = 0;  // of all programs, as if one after the other held so much
  RoleCost cost_;
  std::vector<char> may_split_;  // per tensor and axis: whether any of its dims divides so
};

}  // namespace mtf
