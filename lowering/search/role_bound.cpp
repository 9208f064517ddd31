#include "lowering/search/role_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lowering/layout/rule_sources.h"
#include "lowering/spmd.h"

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

bool is_product_of_two(const Value& value) {
  return value.op->algebra == Algebra::kEinsum && value.operands.size() % 2 == 0;
}

}  // namespace

class RoleBound::Reader {
 public:
  Reader(RoleBound& bound, const Program& program)
      : bound_(bound),
        program_(program),
        sources_(program, bound.space_.limits().fixed),
        partial_(program),
        uses_(count_uses(program)) {}

  void run() {
    for (const Input& input : program_.inputs) {
      bound_.inputs_.push_back(tensor(input.value, nullptr));
    }
    for (std::size_t i = 0; i < program_.values.size(); ++i) {
      const OpDef* op = program_.values[i].op;
      if (op != nullptr && op->space != nullptr && !op->effect && !op->alias) {
        add(i);
      }
    }
  }

 private:
  // Whether a value may be left a partial sum: only sums read it, of nothing but such values.
  class PartialSums {
   public:
    explicit PartialSums(const Program& program)
        : may_be_(program.values.size(), 0), is_read_whole_(program.values.size(), 0) {
      for (std::size_t i = 0; i < program.values.size(); ++i) {
        if (program.values[i].op != nullptr) {
          look_at(i, program.values[i]);
        }
      }
    }

    [[nodiscard]] bool may_be(std::size_t value) const {
      return may_be_[value] != 0 && is_read_whole_[value] == 0;
    }

   private:
    void look_at(std::size_t number, const Value& value) {
      const bool sums = value.op->algebra == Algebra::kEinsum || value.op->algebra == Algebra::kSum;
      const bool passes =
          value.op->linear != Linear::kNo &&
          std::ranges::all_of(value.operands, [this](ValueId id) { return may_be_[at(id)] != 0; });
      may_be_[number] = sums || passes ? 1 : 0;
      for (const ValueId operand : value.operands) {
        is_read_whole_[at(operand)] |= passes || value.op->algebra == Algebra::kSum ? 0 : 1;
      }
    }

    std::vector<char> may_be_;
    std::vector<char> is_read_whole_;
  };

  Tensor tensor(ValueId id, const DimMap* map) const {
    const Value& value = program_.at(id);
    const RuleSource source = sources_.of(id);
    const Layout& fixed = bound_.space_.limits().fixed;
    Tensor tensor{.dims = {},
                  .loops = {},
                  .bytes = static_cast<double>(value.type.bytes()),
                  .is_open = bound_.is_free_ || value.internal || source.pin != nullptr ||
                             source.layout != &fixed,
                  .is_variable = source.variable != nullptr,
                  .readers = value.op == nullptr ? std::max(1, uses_[at(id)]) : 0.0};
    for (std::size_t d = 0; d < value.type.shape.rank(); ++d) {
      const auto found = bound_.space_.find(value.type.shape.dims()[d].name);
      const bool is_one_loop = map != nullptr && (*map)[d].size() == 1;
      tensor.dims.push_back(found ? static_cast<std::int32_t>(*found) : -1);
      tensor.loops.push_back(is_one_loop ? static_cast<std::int32_t>((*map)[d].front()) : -1);
    }
    return tensor;
  }

  // What a product does, or an operation whose elements have a price.
  void add(std::size_t number) {
    const Value& value = program_.values[number];
    const ValueId id{static_cast<std::int32_t>(number)};
    const bool is_product = is_product_of_two(value);
    const double of_element = bound_.hardware_.seconds_of_element(value.op->name);
    if (!is_product && (of_element == 0 || value.op->tile == nullptr)) {
      return;
    }
    const LocalCall call = unsplit_call(program_, id);
    Operation operation;
    double volume = 1;
    for (const LoopDim& loop : call.space->loops) {
      if (loop.role != DimRole::kReduced && loop.role != DimRole::kKept) {
        return;
      }
      operation.loops.push_back(static_cast<double>(loop.size));
      operation.reduced.push_back(loop.role == DimRole::kReduced ? 1 : 0);
      volume *= static_cast<double>(loop.size);
    }
    operation.seconds = is_product ? 0 : volume * of_element;
    operation.flops = !is_product ? 0
                      : of_element > 0
                          ? std::min(2 * volume, volume * of_element * bound_.flops_rate_)
                          : 2 * volume;
    for (std::size_t o = 0; o < value.operands.size(); ++o) {
      operation.tensors.push_back(tensor(value.operands[o], &call.space->operands[o]));
    }
    operation.tensors.push_back(tensor(id, &call.space->result));
    operation.stays_partial = partial_.may_be(number);
    bound_.add(std::move(operation));
  }

  RoleBound& bound_;
  const Program& program_;
  RuleSources sources_;
  PartialSums partial_;
  std::vector<int> uses_;
};

RoleBound::RoleBound(const SearchSpace& space, std::size_t mesh, std::span<const Program> programs,
                     const Hardware& hardware, Objective objective)
    : space_(space),
      mesh_(space.meshes()[mesh]),
      hardware_(hardware),
      objective_(objective),
      is_free_(space.limits().fixed.infer),
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
  for (const Program& program : programs) {
    Reader(*this, program).run();
  }
  remembered_.resize(operations_.size());
}

// Operations that are alike are looked at once.
void RoleBound::add(Operation operation) {
  std::string key;
  const auto put = [&key](double number) { key += std::to_string(number) + ","; };
  std::ranges::for_each(operation.loops, put);
  for (const Tensor& tensor : operation.tensors) {
    std::ranges::for_each(tensor.dims, put);
    std::ranges::for_each(tensor.loops, put);
    put(tensor.bytes);
    put((tensor.is_open ? 1 : 0) + (tensor.is_variable ? 2 : 0));
    put(tensor.readers);
  }
  put(operation.flops);
  put(operation.seconds);
  put(operation.stays_partial ? 1 : 0);
  const auto [number, is_new] = numbers_.try_emplace(std::move(key), operations_.size());
  if (is_new) {
    operations_.push_back(std::move(operation));
  } else {
    operations_[number->second].count += 1;
  }
}

// The dim that the rules which are decided split over the axis, if any.
std::int32_t RoleBound::ruled_place(const LayoutCandidate& candidate, const Tensor& tensor,
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

std::int32_t RoleBound::place(const Partial& partial, const Tensor& tensor, AxisId axis) const {
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
double RoleBound::summing(const Operation& operation, const Places& places,
                          const std::vector<std::int32_t>& loops) const {
  const Tensor& result = operation.tensors.back();
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
double RoleBound::gathering(const Tensor& tensor, std::size_t number, const Places& places,
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

double RoleBound::cost(const Operation& operation, const Places& places,
                       const std::vector<std::int32_t>& loops) const {
  double ranks = 1;
  for (std::size_t a = 0; a < loops.size(); ++a) {
    ranks *= loops[a] >= 0 ? static_cast<double>(mesh_.axes[a].size) : 1;
  }
  double result = 0;
  if (objective_ == Objective::kTime) {
    result = operation.flops / ranks / flops_rate_ + operation.seconds / ranks +
             (operation.flops > 0 ? hardware_.overhead : 0);
  }
  if (operation.flops == 0) {
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

double RoleBound::least(const Operation& operation, const Places& places) const {
  // Per axis, the loops that it may split, or none.
  std::vector<std::int32_t> loops(places.size(), -1);
  double best = std::numeric_limits<double>::infinity();
  const auto choose = [&](const auto& self, std::size_t axis) -> void {
    if (axis == places.size()) {
      best = std::min(best, cost(operation, places, loops));
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

RoleBound::Places RoleBound::places_of(const Partial& partial, const Operation& operation) const {
  Places places(space_.axes());
  for (std::size_t a = 0; a < places.size(); ++a) {
    const auto axis = static_cast<AxisId>(a);
    for (const Tensor& tensor : operation.tensors) {
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
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const Places places = places_of(partial, operations_[i]);
    const auto [found, is_new] = remembered_[i].try_emplace(places, 0);
    if (is_new) {
      found->second = least(operations_[i], places);
    }
    sum += operations_[i].count * found->second;
  }
  return sum * (1 - kRounding);
}

double RoleBound::least_memory(const Partial& partial) const {
  double sum = 0;
  for (const Tensor& tensor : inputs_) {
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
