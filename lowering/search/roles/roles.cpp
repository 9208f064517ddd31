#include "lowering/search/roles/roles.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace mtf {

Roles::Roles(const SearchSpace& space, Pricer& pricer, Objective objective, double memory)
    : space_(space), pricer_(pricer), objective_(objective), memory_(memory) {}

const RoleOperations& Roles::operations(const LayoutCandidate& candidate) {
  const std::span<const Program> programs = pricer_.programs(candidate);
  return operations_.try_emplace(programs.data(), space_, programs, pricer_.is_exact())
      .first->second;
}

// Of its beginning, made when it is first asked for.
template <typename Made, typename... More>
Made& Roles::kept(std::map<Beginning, Made>& all, const LayoutCandidate& candidate, More... more) {
  const Beginning beginning(candidate.mesh, candidate.recompute);
  const auto found = all.find(beginning);
  return found != all.end()
             ? found->second
             : all.try_emplace(beginning, space_, candidate.mesh, operations(candidate),
                               pricer_.hardware(candidate.mesh), objective_, more...)
                   .first->second;
}

RoleBound& Roles::bound(const LayoutCandidate& candidate) {
  return kept(bounds_, candidate, memory_);
}

RoleEstimate& Roles::estimating(const LayoutCandidate& candidate) {
  return kept(estimates_, candidate);
}

RoleBound::Least Roles::least(const Partial& partial) {
  RoleBound& bound = this->bound(partial.candidate);
  const std::int64_t before = bound.looks();
  const RoleBound::Least least = bound.least(partial);
  pricer_.add_looks(bound.looks() - before);
  return least;
}

RoleCost::Figures Roles::estimate(const LayoutCandidate& candidate) {
  RoleEstimate& estimate = estimating(candidate);
  const std::int64_t before = estimate.looks();
  const RoleCost::Figures figures = estimate.of(candidate);
  pricer_.add_looks(estimate.looks() - before);
  return figures;
}

std::string Roles::look(const LayoutCandidate& candidate) {
  std::string text = estimating(candidate).look(candidate);
  text += candidate.again ? "a" : "";
  text += candidate.recompute ? "" : "k";
  text += candidate.infer ? "i" + std::to_string(candidate.whole) + " " : "";
  text += std::to_string(candidate.mesh) + " " + std::to_string(candidate.stream);
  for (const Axes& axes : candidate.rules) {
    if (axes.size() > 1) {
      text += " " + std::string(axes.begin(), axes.end());
    }
  }
  return text;
}

std::size_t Roles::decisions() const {
  return 2 * space_.dims().size() + space_.axes();
}

Partial Roles::whole(LayoutCandidate candidate) const {
  return {.candidate = std::move(candidate), .decided = decisions()};
}

double Roles::least_of_all(double memory, Reaches reaches) {
  std::pair<bool, double> best(true, std::numeric_limits<double>::infinity());  // too large, value
  for (const LayoutCandidate& beginning : space_.beginnings()) {
    const Partial nothing{.candidate = beginning, .decided = 0, .reaches = reaches};
    const RoleBound::Least least = this->least(nothing);
    best = std::min(best, std::pair(memory > 0 && least.bytes > memory, least.value));
  }
  return best.second;
}

double Roles::least_memory() {
  double least = std::numeric_limits<double>::infinity();
  for (const LayoutCandidate& beginning : space_.beginnings()) {
    const Partial nothing{.candidate = beginning, .decided = 0};
    least = std::min(least, this->least(nothing).bytes);
  }
  return least;
}

}  // namespace mtf
