// What lowerings may share: how values get from one layout to another, and how operations are
// split.
//
// Both follow from the sizes of a mesh and the problem itself, so that a layout that changes some
// dims of a program asks for little that was not found before. Plans are the same with and without.
// Not for several threads at a time.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "lowering/known/known_plans.h"
#include "lowering/reshard/reshard.h"

namespace mtf {

// What a plan is for.
struct PlanFor {
  // Partial sums are not added up before they are finished, and sums over several dims are finished
  // in stages where their trees want it.
  bool exact = true;
  bool price_only = false;  // steps need no reasons, and calls no next best splits
};

struct MeshPlans {
  MeshPlans(Mesh of, PlanFor use) : mesh(std::move(of)), plan_for(use) {}
  MeshPlans(const MeshPlans&) = delete;  // its members refer to each other
  MeshPlans& operator=(const MeshPlans&) = delete;
  MeshPlans(MeshPlans&&) = delete;
  MeshPlans& operator=(MeshPlans&&) = delete;
  ~MeshPlans() = default;

  Mesh mesh;
  PlanFor plan_for;
  Resharder resharder{mesh};
  KnownPlans known;
  std::vector<std::uint64_t> problem;  // that is looked for
};

class PlanCache {
 public:
  [[nodiscard]] MeshPlans& of(const Mesh& mesh, PlanFor use);
  // What plans have looked at so far: decisions on splits, and steps of reshards that were tried,
  // which take about as long.
  [[nodiscard]] std::int64_t looks() const;

 private:
  std::map<std::vector<std::int64_t>, std::unique_ptr<MeshPlans>> plans_;
};

}  // namespace mtf
