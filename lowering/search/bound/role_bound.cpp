#include "lowering/search/bound/role_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mtf {
namespace {

constexpr double kRounding = 1e-9;

double highest(const Curve& curve, double otherwise) {
  double result = curve.empty() ? otherwise : 0;
  for (const auto& [size, value] : curve) {
    result = std::max(result, value);
  }
  return result;
}

}  // namespace

RoleBound::RoleBound(const SearchSpace& space, std::size_t mesh, const RoleOperations& operations,
                     const Hardware& hardware, Objective objective)
    : space_(space),
      mesh_(space.meshes()[mesh]),
      hardware_(hardware),
      objective_(objective),
      inputs_(operations.inputs()),
      flops_rate_(highest(hardware.products, hardware.flops)),
      bandwidth_(std::max(hardware.link.bandwidth * static_cast<double>(hardware.near_ranks),
                          hardware.near.bandwidth)),
      latency_(std::min(hardware.link.latency, hardware.near.latency)) {
  if (hardware.near_ranks <= 1) {
    bandwidth_ = hardware.link.bandwidth;
    latency_ = hardware.link.latency;
  }
  if (!hardware.collectives.empty()) {  // measured ones go before the links
    latency_ = 0;
    bandwidth_ = std::numeric_limits<double>::infinity();
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    add(operations[i], operations.count(i));
  }
  remembered_.resize(works_.size());
}

void RoleBound::add(const RoleOperation& operation, double count) {
  const double of_element = hardware_.seconds_of_element(operation.op->name);
  if (!operation.is_product && of_element == 0) {
    return;
  }
  const double flops = 2 * operation.volume;
  works_.push_back({.operation = &operation,
                    .flops = !operation.is_product ? 0
                             : of_element > 0
                                 ? std::min(flops, operation.volume * of_element * flops_rate_)
                                 : flops,
                    .seconds = operation.is_product ? 0 : operation.volume * of_element,
                    .count = count});
}

// The dim that the rules which are decided split over the axis, if any.
std::int32_t RoleBound::ruled_place(const LayoutCandidate& candidate, const RoleTensor& tensor,
                                    AxisId axis) {
  const DimSet own = tensor.is_variable ? candidate.variables[axis] : kAsRules;
  const auto first = [&tensor](const auto& splits) {
    const auto found = std::ranges::find_if(tensor.dims, [&splits](std::int32_t dim) {
      return dim >= 0 && splits(static_cast<std::size_t>(dim));
    });
    return found == tensor.dims.end() ? kNowhere
                                      : static_cast<std::int32_t>(found - tensor.dims.begin());
  };
  const std::int32_t by_own =
      own == kAsRules ? kNowhere : first([own](std::size_t dim) { return has(own, dim); });
  return by_own != kNowhere
             ? by_own
             : first([&](std::size_t dim) { return has(candidate.rules[dim], axis); });
}

std::int32_t RoleBound::place(const Partial& partial, const RoleTensor& tensor, AxisId axis) const {
  const std::size_t dims = space_.dims().size();
  const bool own_decided = partial.reaches < Reaches::kVariables || partial.decided > dims + axis;
  if (tensor.is_open || (tensor.is_variable && !own_decided)) {
    return kUnknown;
  }
  const std::int32_t ruled = ruled_place(partial.candidate, tensor, axis);
  if (ruled != kNowhere) {
    return ruled;
  }
  const auto is_open = [&](std::int32_t number) {
    const auto dim = static_cast<std::size_t>(number);
    const bool rest_decided =
        partial.reaches < Reaches::kRest || partial.decided > dims + space_.axes() + dim;
    return number >= 0 &&
           (dim >= partial.decided || !rest_decided || has(partial.candidate.rest, dim));
  };
  return std::ranges::any_of(tensor.dims, is_open) ? kUnknown : kNowhere;
}

double RoleBound::moving(double bytes, double messages) const {
  if (objective_ == Objective::kBytes) {
    return bytes;
  }
  return bytes / bandwidth_ + messages * latency_;
}

// The sum of what the ranks along `loops` have of it, brought to where the result is to be.
double RoleBound::summing(const RoleOperation& operation, const Places& places,
                          const std::vector<std::int32_t>& loops) const {
  const RoleTensor& result = operation.tensors.back();
  const std::size_t last = operation.tensors.size() - 1;
  double bytes = result.bytes;  // of what a rank has of it when it is summed
  double scattered = 1;         // ranks along axes that split the result, too
  double whole = 1;             // … along axes that do not
  double gathered = 1;          // ranks that made parts of what is whole in the end
  for (std::size_t a = 0; a < loops.size(); ++a) {
    const auto size = static_cast<double>(mesh_.axes[a].size);
    if (loops[a] < 0) {
      continue;
    }
    if (operation.reduced[static_cast<std::size_t>(loops[a])] != 0) {
      (places[a][last] == kNowhere ? whole : scattered) *= size;
      continue;
    }
    bytes /= size;
    gathered *= places[a][last] == kNowhere ? size : 1;
  }
  double received = 0;
  double messages = 0;
  if (scattered > 1) {
    received += bytes * (1 - 1 / scattered);
    bytes /= scattered;
    messages = std::max(messages, 1.0);
  }
  if (whole > 1) {
    received += 2 * bytes * (1 - 1 / whole);
    messages = std::max(messages, 1.0);
  }
  if (operation.stays_partial && scattered * whole > 1) {
    return 0;
  }
  if (gathered > 1) {
    received += bytes * (gathered - 1);
    messages = std::max(messages, 1.0);
  }
  return moving(received, messages);
}

// What is kept in parts, where they are not the parts that a rank needs.
double RoleBound::gathering(const RoleTensor& tensor, std::size_t number, const Places& places,
                            const std::vector<std::int32_t>& loops) const {
  double needed = tensor.bytes;  // by a rank
  double missing = 1;
  for (std::size_t a = 0; a < loops.size(); ++a) {
    const auto size = static_cast<double>(mesh_.axes[a].size);
    const std::int32_t at = places[a][number];
    const bool used =
        loops[a] >= 0 && std::ranges::find(tensor.loops, loops[a]) != tensor.loops.end();
    if (used) {
      needed /= size;
    } else if (at >= 0) {
      missing *= size;
    }
  }
  return missing == 1 ? 0 : moving(needed * (1 - 1 / missing), 1) / tensor.readers;
}

double RoleBound::cost(const Work& work, const Places& places,
                       const std::vector<std::int32_t>& loops) const {
  const RoleOperation& operation = *work.operation;
  double ranks = 1;
  for (std::size_t a = 0; a < loops.size(); ++a) {
    ranks *= loops[a] >= 0 ? static_cast<double>(mesh_.axes[a].size) : 1;
  }
  double result = 0;
  if (objective_ == Objective::kTime) {
    result = work.flops / ranks / flops_rate_ + work.seconds / ranks +
             (work.flops > 0 ? hardware_.overhead : 0);
  }
  if (work.flops == 0) {
    return result;
  }
  result += summing(operation, places, loops);
  for (std::size_t o = 0; o + 1 < operation.tensors.size(); ++o) {
    if (operation.tensors[o].readers > 0 && hardware_.overlap == 0) {
      result += gathering(operation.tensors[o], o, places, loops);
    }
  }
  return result;
}

double RoleBound::least(const Work& work, const Places& places) const {
  const RoleOperation& operation = *work.operation;
  // Per axis, the loops that it may split, or none.
  std::vector<std::int32_t> loops(places.size(), -1);
  double best = std::numeric_limits<double>::infinity();
  const auto choose = [&](const auto& self, std::size_t axis) -> void {
    if (axis == places.size()) {
      best = std::min(best, cost(work, places, loops));
      return;
    }
    loops[axis] = -1;
    self(self, axis + 1);
    const bool is_there =
        mesh_.axes[axis].size > 1 &&
        std::ranges::any_of(places[axis], [](std::int32_t at) { return at != kNowhere; });
    for (std::size_t l = 0; is_there && l < operation.loops.size(); ++l) {
      if (operation.loops[l] > 1) {
        loops[axis] = static_cast<std::int32_t>(l);
        self(self, axis + 1);
      }
    }
    loops[axis] = -1;
  };
  choose(choose, 0);
  return best;
}

RoleBound::Places RoleBound::places_of(const Partial& partial,
                                       const RoleOperation& operation) const {
  Places places(space_.axes());
  for (std::size_t a = 0; a < places.size(); ++a) {
    const auto axis = static_cast<AxisId>(a);
    for (const RoleTensor& tensor : operation.tensors) {
      places[a].push_back(mesh_.axes[a].size == 1 ? kNowhere : place(partial, tensor, axis));
    }
  }
  return places;
}

double RoleBound::least(const Partial& partial) {
  if (objective_ == Objective::kMemory) {
    return least_memory(partial);
  }
  double sum = 0;
  for (std::size_t i = 0; i < works_.size(); ++i) {
    const Places places = places_of(partial, *works_[i].operation);
    const auto [found, is_new] = remembered_[i].try_emplace(places, 0);
    if (is_new) {
      found->second = least(works_[i], places);
    }
    sum += works_[i].count * found->second;
  }
  return sum * (1 - kRounding);
}

double RoleBound::least_memory(const Partial& partial) const {
  double sum = 0;
  for (const RoleTensor& tensor : inputs_) {
    double bytes = tensor.bytes;
    for (std::size_t a = 0; a < space_.axes(); ++a) {
      const bool may_split =
          mesh_.axes[a].size > 1 && place(partial, tensor, static_cast<AxisId>(a)) != kNowhere;
      bytes /= may_split ? static_cast<double>(mesh_.axes[a].size) : 1;
    }
    sum += bytes;
  }
  return sum * (1 - kRounding);
}

}  // namespace mtf
