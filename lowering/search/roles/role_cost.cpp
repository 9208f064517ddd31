#include "lowering/search/roles/role_cost.h"

#include <algorithm>
#include <limits>

#include "lowering/price/conversions.h"
#include "lowering/price/price.h"

namespace mtf {
namespace {

double highest(const Curve& curve, double otherwise) {
  double result = curve.empty() ? otherwise : 0;
  for (const auto& [size, value] : curve) {
    result = std::max(result, value);
  }
  return result;
}

bool is_loop_of(const RoleOperand& operand, std::int32_t loop) {
  return loop >= 0 && std::ranges::find(operand.loops, loop) != operand.loops.end();
}

}  // namespace

double RolePlaces::part(std::size_t tensor, const Mesh& mesh) const {
  double parts = 1;
  for (std::size_t a = 0; a < axes_; ++a) {
    parts *= at(tensor, a) == kNowhere ? 1 : static_cast<double>(mesh.axes[a].size);
  }
  return 1 / parts;
}

double RolePlaces::most_held(std::span<const RoleOperations::Moment> moments,
                             const Mesh& mesh) const {
  double most = 0;
  for (const RoleOperations::Moment& moment : moments) {
    double held = 0;
    for (const auto& [tensor, whole] : moment) {
      held += whole * part(tensor, mesh);
    }
    most = std::max(most, held);
  }
  return most;
}

std::string RolePlaces::of(const RoleOperation& operation) const {
  std::string result;
  for (const RoleOperand& operand : operation.tensors) {
    for (std::size_t a = 0; a < axes_; ++a) {
      result += static_cast<char>(at(operand.tensor, a));
    }
  }
  return result;
}

RoleCost::RoleCost(const Mesh& mesh, const RoleOperations& operations, const Hardware& hardware,
                   Objective objective, Counts counts)
    : mesh_(mesh),
      operations_(operations),
      hardware_(hardware),
      objective_(objective),
      counts_(counts),
      equal_axes_(counts == Counts::kUnavoidable ? EqualAxes(mesh) : EqualAxes()),
      flops_rate_(highest(hardware.products, hardware.flops)),
      bandwidth_(most_bandwidth(mesh, hardware)),
      latency_(hardware.near_ranks > 1 ? std::min(hardware.link.latency, hardware.near.latency)
                                       : hardware.link.latency),
      fastest_memory_(highest(hardware.memory, 0)) {
  if (!hardware.collectives.empty()) {  // measured ones go before the links
    latency_ = 0;
  }
  if (bandwidth_ == 0) {  // one rank receives nothing
    bandwidth_ = std::numeric_limits<double>::infinity();
  }
  if (objective == Objective::kTime && counts == Counts::kUnavoidable && !hardware.memory.empty()) {
    through_memory_ =
        operations.through_memory() / static_cast<double>(mesh.ranks()) / fastest_memory_;
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    add(operations[i], operations.count(i));
  }
}

// A cast need not be there in a plan: it may be of what is kept from one run to the next.
double RoleCost::converting(const RoleOperation& operation) const {
  const bool is_sure = operation.is_element_wise && operation.flops == 0 &&
                       operation.op->primitive != Primitive::kCast;
  return is_sure || counts_ == Counts::kLikely
             ? operation.volume * conversion_seconds(operation.conversions, hardware_)
             : 0;
}

void RoleCost::add(const RoleOperation& operation, double count) {
  const bool has_way = hardware_.seconds_of_element(operation.way) > 0;
  const double of_element =
      hardware_.seconds_of_element(has_way ? operation.way : operation.op->name);
  // Of what nobody has measured by elements, the arithmetic is sure.
  const bool is_measured =
      has_way || (of_element > 0 && (operation.is_element_wise || counts_ == Counts::kLikely));
  const double seconds =
      (is_measured ? operation.volume * of_element : operation.flops / hardware_.flops) +
      converting(operation);
  if (!operation.is_product && seconds == 0 && counts_ == Counts::kUnavoidable) {
    return;
  }
  const double flops = 2 * operation.volume;
  works_.push_back({.operation = &operation,
                    .flops = !operation.is_product ? 0
                             : of_element > 0
                                 ? std::min(flops, operation.volume * of_element * flops_rate_)
                                 : flops,
                    .seconds = operation.is_product ? 0 : seconds,
                    .count = count});
}

double RoleCost::moving(double bytes, double hops) const {
  if (objective_ == Objective::kBytes) {
    return bytes;
  }
  return bytes / bandwidth_ + hops * latency_;
}

double RoleCost::likely_moving(StepKind kind, double bytes, const Axes& axes) const {
  if (objective_ == Objective::kBytes || axes.empty()) {
    return axes.empty() ? 0 : bytes;
  }
  return collective_seconds(kind, static_cast<std::int64_t>(bytes), mesh_, axes, hardware_);
}

// What is kept in parts, where they are not the parts that a rank needs.
double RoleCost::gathering(const RoleOperation& operation, std::size_t number,
                           const std::string& places, const Loops& loops) const {
  const RoleOperand& operand = operation.tensors[number];
  const RoleTensor& tensor = operations_.tensor(operand.tensor);
  double needed = tensor.bytes;  // by a rank
  Axes missing;
  Axes exchanged;
  for (std::size_t a = 0; a < loops.size(); ++a) {
    const std::int8_t at = place(places, number, a);
    if (is_loop_of(operand, loops[a])) {
      needed /= static_cast<double>(mesh_.axes[a].size);
      if (at >= 0 && operand.loops[static_cast<std::size_t>(at)] != loops[a]) {
        exchanged.push_back(static_cast<AxisId>(a));
      }
    } else if (at >= 0) {
      missing.push_back(static_cast<AxisId>(a));
    }
  }
  const double received = needed * (1 - 1 / ranks(missing));
  if (counts_ == Counts::kUnavoidable) {
    return missing.empty() ? 0 : moving(received, hops(missing)) / tensor.readers;
  }
  const double share = tensor.is_input ? tensor.readers : 1;
  return (likely_moving(StepKind::kAllGather, received, missing) +
          likely_moving(StepKind::kAllToAll, needed * (1 - 1 / ranks(exchanged)), exchanged)) /
         share;
}

// Of an operation that is no product, done where its result is.
double RoleCost::elsewise(const Work& work, const std::string& places) const {
  const RoleOperation& operation = *work.operation;
  const std::size_t last = operation.tensors.size() - 1;
  Loops loops(mesh_.axes.size(), -1);
  double parts = 1;
  for (std::size_t a = 0; a < loops.size(); ++a) {
    loops[a] = loop_of(operation, places, a);
    parts *= loops[a] < 0 ? 1 : static_cast<double>(mesh_.axes[a].size);
  }
  const double made = operations_.tensor(operation.tensors[last].tensor).bytes;
  double read = 0;
  double moved = likely_summing(sum_of(operation, places, loops));
  for (std::size_t o = 0; o < last; ++o) {
    read = std::max(read, operations_.tensor(operation.tensors[o].tensor).bytes);
    moved += gathering(operation, o, places, loops);
  }
  if (objective_ != Objective::kTime) {
    return moved;
  }
  const double bytes = (operation.is_element_wise ? made : read) / parts;
  return moved + work.seconds / parts +
         (bytes == 0 ? 0 : bytes / value_at(hardware_.memory, bytes));
}

// The loop that the axis splits where the result is, or some sum.
std::int32_t RoleCost::loop_of(const RoleOperation& operation, const std::string& places,
                               std::size_t axis) const {
  const std::size_t last = operation.tensors.size() - 1;
  if (const std::int8_t at = place(places, last, axis); at >= 0) {
    return operation.tensors[last].loops[static_cast<std::size_t>(at)];
  }
  for (std::size_t o = 0; o < last; ++o) {
    const std::int8_t at = place(places, o, axis);
    const std::int32_t loop =
        at < 0 ? -1 : operation.tensors[o].loops[static_cast<std::size_t>(at)];
    if (loop >= 0 && operation.reduced[static_cast<std::size_t>(loop)] != 0) {
      return loop;
    }
  }
  return -1;
}

double RoleCost::cost(const Work& work, const std::string& places, const Loops& loops,
                      double product) const {
  const RoleOperation& operation = *work.operation;
  double parts = 1;
  for (std::size_t a = 0; a < loops.size(); ++a) {
    parts *= loops[a] >= 0 ? static_cast<double>(mesh_.axes[a].size) : 1;
  }
  double result = 0;
  if (objective_ == Objective::kTime) {
    result = work.seconds / parts + (work.flops > 0 ? product + hardware_.overhead : 0);
  }
  if (work.flops == 0) {
    return result;
  }
  const bool is_likely = counts_ == Counts::kLikely;
  const Sum sum = sum_of(operation, places, loops);
  result += is_likely ? likely_summing(sum) : summing(operation, sum);
  for (std::size_t o = 0; o + 1 < operation.tensors.size(); ++o) {
    const bool is_input = operations_.tensor(operation.tensors[o].tensor).is_input;
    if (is_likely || (is_input && hardware_.overlap == 0)) {
      result += gathering(operation, o, places, loops);
    }
  }
  return result;
}

bool RoleCost::is_named(const std::string& places, std::size_t axis) const {
  for (std::size_t at = axis; at < places.size(); at += mesh_.axes.size()) {
    if (places[at] >= 0 && places[at] < kByRest) {
      return true;
    }
  }
  return false;
}

// Whether the axis may split the loop: if it splits some tensor; by all likelihood, along the loop,
// and where one is split over it by name, along that.
bool RoleCost::may_split(const RoleOperation& operation, const std::string& places,
                         std::size_t axis, std::size_t loop) const {
  const bool is_likely = counts_ == Counts::kLikely;
  const bool named = is_likely && is_named(places, axis);
  for (std::size_t t = 0; t < operation.tensors.size(); ++t) {
    const std::int8_t at = place(places, t, axis);
    if (named && places[t * mesh_.axes.size() + axis] >= kByRest) {
      continue;
    }
    const bool is_along = at == kUnknown || !is_likely ||
                          (at >= 0 && operation.tensors[t].loops[static_cast<std::size_t>(at)] ==
                                          static_cast<std::int32_t>(loop));
    if (at != kNowhere && is_along) {
      return true;
    }
  }
  return false;
}

// What is gathered of its operands, and of its result the sum before it is scattered.
double RoleCost::working_bytes(const RoleOperation& operation, const std::string& places,
                               const Loops& loops) const {
  double result = 0;
  for (std::size_t t = 0; t < operation.tensors.size(); ++t) {
    const RoleOperand& operand = operation.tensors[t];
    double used = operations_.tensor(operand.tensor).bytes;
    double resting = used;
    for (std::size_t a = 0; a < loops.size(); ++a) {
      const auto size = static_cast<double>(mesh_.axes[a].size);
      used /= is_loop_of(operand, loops[a]) ? size : 1;
      resting /= place(places, t, a) != kNowhere ? size : 1;
    }
    result += std::max(0.0, used - resting);
  }
  return result;
}

// With the loops over which it costs least.
RoleCost::Figures RoleCost::least(const Work& work, const std::string& places) {
  const RoleOperation& operation = *work.operation;
  if (work.flops == 0 && counts_ == Counts::kLikely) {
    return {.value = elsewise(work, places)};
  }
  const bool is_likely = counts_ == Counts::kLikely;
  Loops loops(mesh_.axes.size(), -1);
  Loops best_loops = loops;
  double best = std::numeric_limits<double>::infinity();
  double passing = is_likely ? 0 : best;
  double passing_twice = passing;
  const auto look = [&] {
    ++looks_;
    const double product = counted_seconds(work, loops);
    if (!is_likely) {
      passing = std::min(passing, with_passage(work, loops, product, &RoleOperand::passage));
      passing_twice =
          std::min(passing_twice, with_passage(work, loops, product, &RoleOperand::passage_twice));
    }
    const double here = cost(work, places, loops, product);
    best_loops = here < best ? loops : best_loops;
    best = std::min(best, here);
  };
  const auto choose = [&](const auto& self, std::size_t axis) -> void {
    if (axis == loops.size()) {
      if (all_divide(operation, loops)) {
        look();
      }
      return;
    }
    for (const std::int32_t loop : loops_over(operation, places, axis, loops)) {
      loops[axis] = loop;
      self(self, axis + 1);
    }
  };
  choose(choose, 0);
  return {.value = best,
          .bytes = working_bytes(operation, places, best_loops),
          .with_passage = passing,
          .with_passage_twice = passing_twice};
}

// To arrange places takes longer than to find them: they are kept as they were asked for, too.
const RoleCost::Figures& RoleCost::known(Work& work, const std::string& places) {
  if (const auto found = work.known.find(places); found != work.known.end()) {
    return found->second;
  }
  const std::string arranged = equal_axes_.arranged(places);
  const std::string looked_at = counts_ == Counts::kUnavoidable && arranged == places
                                    ? coarse(*work.operation, places)
                                    : arranged;
  const Figures figures = looked_at == places ? least(work, places) : known(work, looked_at);
  return work.known.emplace(places, figures).first->second;
}

RoleCost::Figures RoleCost::of(const RolePlaces& places) {
  Figures sum{.value = through_memory_,
              .with_passage = through_memory_,
              .with_passage_twice = through_memory_};
  constexpr std::int64_t kKnownOfLook = 6;  // that are found in the time of one look
  looks_ += std::ssize(works_) / kKnownOfLook;
  for (Work& work : works_) {
    const Figures& figures = known(work, places.of(*work.operation));
    sum.value += work.count * figures.value;
    sum.with_passage += work.count * figures.with_passage;
    sum.with_passage_twice += work.count * figures.with_passage_twice;
    sum.bytes = std::max(sum.bytes, figures.bytes);
  }
  return sum;
}

}  // namespace mtf
