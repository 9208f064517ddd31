#include "lowering/search/roles/role_estimate.h"

#include <algorithm>
#include <limits>
#include <string>

#include "lowering/search/roles/role_bound.h"

namespace mtf {

RoleEstimate::RoleEstimate(const SearchSpace& space, std::size_t mesh,
                           const RoleOperations& operations, const Hardware& hardware,
                           Objective objective)
    : space_(space),
      mesh_(space.meshes()[mesh]),
      operations_(operations),
      objective_(objective),
      cost_(mesh_, operations, hardware, objective, RoleCost::Counts::kLikely) {}

// Every axis that the tensor leaves unused goes to the first of its dims with a `*` that it
// divides. Where others of its dims are split, all axes have to; false: they do not.
bool RoleEstimate::place_rest(const LayoutCandidate& candidate, std::size_t tensor,
                              RolePlaces& places) const {
  const RoleTensor& one = operations_.tensor(tensor);
  std::vector<std::pair<std::size_t, std::size_t>> order;  // of its dims with a `*`
  for (std::size_t d = 0; d < one.dims.size(); ++d) {
    const auto dim = static_cast<std::size_t>(one.dims[d]);
    if (one.dims[d] >= 0 && has(candidate.rest, dim)) {
      order.emplace_back(rest_turn(candidate, dim), d);
    }
  }
  std::ranges::sort(order);
  bool is_legal = true;
  for (const auto& [turn, d] : order) {
    is_legal = place_unused(tensor, d, places) && is_legal;
  }
  return is_legal || one.is_open;
}

bool RoleEstimate::place_unused(std::size_t tensor, std::size_t dim, RolePlaces& places) const {
  const std::int64_t size = operations_.tensor(tensor).sizes[dim];
  const auto here = static_cast<std::int8_t>(dim);
  std::int64_t ways = 1;
  bool others_split = false;
  bool all_divide = true;
  for (std::size_t a = 0; a < mesh_.axes.size(); ++a) {
    const std::int8_t at = places.at(tensor, a);
    ways *= at == here ? mesh_.axes[a].size : 1;
    others_split = others_split || (at >= 0 && at < kByRest && at != here);
  }
  for (std::size_t a = 0; a < mesh_.axes.size(); ++a) {
    const std::int64_t more = ways * mesh_.axes[a].size;
    if (more == ways || places.at(tensor, a) != kNowhere) {
      continue;
    }
    all_divide = all_divide && size % more == 0;
    if (size % more == 0) {
      places.at(tensor, a) = static_cast<std::int8_t>(here + kByRest);
      ways = more;
    }
  }
  return all_divide || !others_split || mesh_.uneven;
}

std::optional<RolePlaces> RoleEstimate::at_rest(const LayoutCandidate& candidate) const {
  RolePlaces result(operations_.tensors(), space_.axes());
  for (std::size_t t = 0; t < operations_.tensors(); ++t) {
    for (std::size_t a = 0; a < space_.axes(); ++a) {
      if (mesh_.axes[a].size > 1) {
        result.at(t, a) = ruled_place(candidate, operations_.tensor(t), static_cast<AxisId>(a));
      }
    }
    if (candidate.rest != 0 && !place_rest(candidate, t, result)) {
      return std::nullopt;
    }
  }
  return result;
}

std::string RoleEstimate::look(const LayoutCandidate& candidate) const {
  const std::optional<RolePlaces> resting = at_rest(candidate);
  std::string text;
  for (std::size_t t = 0; resting && t < operations_.tensors(); ++t) {
    for (std::size_t a = 0; a < space_.axes(); ++a) {
      text += static_cast<char>(resting->at(t, a));
    }
  }
  return text;
}

// What only rests split over an axis is gathered, if the rules split something else over it.
RolePlaces RoleEstimate::in_use(const LayoutCandidate& candidate, RolePlaces places) const {
  LayoutCandidate rules = candidate;
  std::ranges::fill(rules.variables, kAsRules);
  for (std::size_t a = 0; a < space_.axes(); ++a) {
    const auto axis = static_cast<AxisId>(a);
    const bool is_ruled =
        std::ranges::any_of(candidate.rules, [axis](const Axes& axes) { return has(axes, axis); });
    for (std::size_t t = 0; is_ruled && t < operations_.tensors(); ++t) {
      if (places.at(t, a) != kNowhere) {
        places.at(t, a) = ruled_place(rules, operations_.tensor(t), axis);
      }
    }
  }
  return places;
}

// The inputs, what is held beside them at some moment, and what is gathered of variables: all of it
// until the backward pass, or of one after the other.
double RoleEstimate::bytes(const LayoutCandidate& candidate, const RolePlaces& resting) const {
  const RolePlaces used_as = in_use(candidate, resting);
  double most = 0;
  for (const RoleOperations::Memory& memory : operations_.memory()) {
    most = std::max(most, bytes(candidate, memory, resting, used_as));
  }
  return most;
}

double RoleEstimate::bytes(const LayoutCandidate& candidate, const RoleOperations::Memory& memory,
                           const RolePlaces& resting, const RolePlaces& used_as) const {
  double inputs = 0;
  double gathered = 0;
  for (const Number input : memory.inputs) {
    const RoleTensor& tensor = operations_.tensor(input);
    const double own = tensor.bytes * resting.part(input, mesh_);
    const double used = tensor.bytes * used_as.part(input, mesh_);
    inputs += own;
    if (used > own && tensor.is_variable && tensor.readers > 1) {
      gathered = candidate.again ? std::max(gathered, used / static_cast<double>(candidate.stream))
                                 : gathered + used;
    }
  }
  return inputs + gathered + resting.most_held(memory.moments, mesh_);
}

RoleCost::Figures RoleEstimate::of(const LayoutCandidate& candidate) {
  const std::optional<RolePlaces> resting = at_rest(candidate);
  if (!resting) {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    return {.value = kInfinite, .bytes = kInfinite};
  }
  const RoleCost::Figures work = cost_.of(*resting);
  const double peak = bytes(candidate, *resting) + work.bytes;
  return {.value = objective_ == Objective::kMemory ? peak : work.value, .bytes = peak};
}

}  // namespace mtf
