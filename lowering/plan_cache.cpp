#include "lowering/plan_cache.h"

namespace mtf {

// The names of the axes count for nothing.
MeshPlans& PlanCache::of(const Mesh& mesh, PlanFor use) {
  std::vector<std::int64_t> key = {mesh.uneven ? 1 : 0, use.exact ? 1 : 0, use.price_only ? 1 : 0};
  for (const MeshAxis& axis : mesh.axes) {
    key.push_back(axis.size);
  }
  std::unique_ptr<MeshPlans>& plans = plans_[key];
  if (plans == nullptr) {
    plans = std::make_unique<MeshPlans>(mesh, use);
  }
  return *plans;
}

std::int64_t PlanCache::looks() const {
  std::int64_t looks = 0;
  for (const auto& [key, plans] : plans_) {
    looks += plans->resharder.looks();
  }
  return looks;
}

}  // namespace mtf
