#include "lowering/search/roles/role_bound.h"

#include <algorithm>

namespace mtf {
namespace {

constexpr double kRounding = 1e-9;

}  // namespace

std::int8_t ruled_place(const LayoutCandidate& candidate, const RoleTensor& tensor, AxisId axis) {
  const DimSet own = tensor.is_variable ? candidate.variables[axis] : kAsRules;
  const auto first = [&tensor](const auto& splits) {
    const auto found = std::ranges::find_if(tensor.dims, [&splits](std::int32_t dim) {
      return dim >= 0 && splits(static_cast<std::size_t>(dim));
    });
    return found == tensor.dims.end() ? kNowhere
                                      : static_cast<std::int8_t>(found - tensor.dims.begin());
  };
  const std::int8_t by_own =
      own == kAsRules ? kNowhere : first([own](std::size_t dim) { return has(own, dim); });
  return by_own != kNowhere
             ? by_own
             : first([&](std::size_t dim) { return has(candidate.rules[dim], axis); });
}

RoleBound::RoleBound(const SearchSpace& space, std::size_t mesh, const RoleOperations& operations,
                     const Hardware& hardware, Objective objective, double memory)
    : space_(space),
      mesh_(space.meshes()[mesh]),
      operations_(operations),
      objective_(objective),
      memory_(memory * static_cast<double>(operations.memory().size())),
      cost_(mesh_, operations, hardware, objective, RoleCost::Counts::kUnavoidable) {
  for (std::size_t t = 0; t < operations.tensors(); ++t) {
    for (std::size_t a = 0; a < space.axes(); ++a) {
      const auto splits = [&](std::int64_t size) {
        return mesh_.splits(size, {static_cast<AxisId>(a)});
      };
      const bool may_be =
          mesh_.axes[a].size > 1 && std::ranges::any_of(operations.tensor(t).sizes, splits);
      may_split_.push_back(may_be ? 1 : 0);
    }
  }
}

std::int8_t RoleBound::place(const Partial& partial, const RoleTensor& tensor, AxisId axis) const {
  const std::size_t dims = space_.dims().size();
  const bool own_decided = partial.reaches < Reaches::kVariables || partial.decided > dims + axis;
  if (tensor.is_open || (tensor.is_variable && !own_decided)) {
    return kUnknown;
  }
  const std::int8_t ruled = ruled_place(partial.candidate, tensor, axis);
  if (ruled != kNowhere) {
    return ruled;
  }
  if (partial.candidate.infer) {
    return kUnknown;  // wherever it follows to
  }
  const auto is_open = [&](std::int32_t number) {
    const auto dim = static_cast<std::size_t>(number);
    const bool rest_decided =
        partial.reaches < Reaches::kRest || partial.decided > dims + space_.axes() + dim;
    return number >= 0 &&
           (dim >= partial.decided || !rest_decided || has(partial.candidate.rest, dim));
  };
  if (std::ranges::any_of(tensor.dims, is_open)) {
    return kUnknown;
  }
  return tensor.is_input || !may_be_used(partial, axis) ? kNowhere : kOnTheWay;
}

// Whether the axis splits anything, or may yet.
bool RoleBound::may_be_used(const Partial& partial, AxisId axis) const {
  const LayoutCandidate& candidate = partial.candidate;
  const std::size_t dims = space_.dims().size();
  const std::size_t last = partial.reaches == Reaches::kRules       ? dims
                           : partial.reaches == Reaches::kVariables ? dims + space_.axes()
                                                                    : 2 * dims + space_.axes();
  const DimSet own = candidate.variables[axis];
  return partial.decided < last || candidate.rest != 0 || candidate.infer ||
         !candidate.groups.empty() || operations_.has_own_rules() ||
         (own != kAsRules && own != 0) ||
         std::ranges::any_of(candidate.rules, [axis](const Axes& axes) { return has(axes, axis); });
}

RoleBound::Least RoleBound::least(const Partial& partial) {
  RolePlaces places(operations_.tensors(), space_.axes());
  for (std::size_t t = 0; t < operations_.tensors(); ++t) {
    for (std::size_t a = 0; a < space_.axes(); ++a) {
      if (may_split_[t * space_.axes() + a] != 0) {
        places.at(t, a) = place(partial, operations_.tensor(t), static_cast<AxisId>(a));
      }
    }
  }
  const double least_bytes = bytes(places) * (1 - kRounding);
  const RoleCost::Figures figures = cost_.of(places);
  const double twice =
      memory_ > 0 ? figures.with_passage_twice - cost_.moving(memory_, 0) : figures.with_passage;
  const double least = std::max({figures.value, figures.with_passage, twice}) * (1 - kRounding);
  return {.value = objective_ == Objective::kMemory ? least_bytes : least, .bytes = least_bytes};
}

// Of the program that takes most: its inputs, and what is held beside them at some time, whatever
// the order of steps.
double RoleBound::bytes(const RolePlaces& places) const {
  double most = 0;
  for (const RoleOperations::Memory& memory : operations_.memory()) {
    double inputs = 0;
    for (const Number input : memory.inputs) {
      inputs += operations_.tensor(input).bytes * places.part(input, mesh_);
    }
    most = std::max(most, inputs + places.most_held(memory.certain_moments, mesh_));
  }
  return most;
}

}  // namespace mtf
