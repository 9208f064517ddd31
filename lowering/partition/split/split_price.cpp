#include "lowering/partition/split/split_price.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lowering/partition/digest.h"
#include "lowering/partition/stages.h"
#include "lowering/reshard/reshard_bound.h"
#include "lowering/reshard/serve.h"

namespace mtf {
namespace {

// Leaves an operand to the ranks that hold it. Scalars all ranks have. False: it is elsewhere.
bool confine(ValueLayout& needed, const ValueLayout& at, std::span<const Condition> where) {
  if (where.empty() || needed.dims.empty()) {
    return true;
  }
  needed.where.assign(where.begin(), where.end());
  return at.where == needed.where && can_hold(needed, where);
}

std::int64_t bytes_of_digest(const DigestMove& digest) {
  return digest.volume.received * static_cast<std::int64_t>(bytes_of(digest.type.dtype));
}

}  // namespace

std::vector<const ValueLayout*> forms_of(const SplitProblem& problem, std::size_t operand) {
  std::vector<const ValueLayout*> forms;
  if (problem.copies.empty() || problem.copies[operand].empty()) {
    forms.push_back(&problem.operands[operand]);
    return forms;
  }
  for (const ValueLayout& copy : problem.copies[operand]) {
    forms.push_back(&copy);
  }
  return forms;
}

std::optional<LoopSplit> SplitPricer::priced(const std::vector<Axes>& loops, double most) {
  const std::vector<Condition>& where = problem_.result.where;
  std::optional<LoopSplit> split =
      priced(loops, {}, where.empty() ? most : std::numeric_limits<double>::max());
  if (split && !where.empty()) {
    const std::optional<LoopSplit> held = priced(loops, where, most);
    return held && held->bytes <= split->bytes ? held : split;
  }
  return split;
}

// `where`: only those ranks do anything.
std::optional<LoopSplit> SplitPricer::priced(std::vector<Axes> loops,
                                             std::span<const Condition> where, double most) {
  LoopSplit split;
  const IterationSpace& space = problem_.space;
  split.volume = volume_of(loops);
  for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
    std::optional<ValueLayout> needed = operand_from_loops(i, loops, space, mesh_);
    if (!needed || !confine(*needed, problem_.operands[i], where)) {
      return std::nullopt;
    }
    if (!is_had(i, *needed, split.operands)) {
      add_operand(i, *needed, split);
    }
    split.operands.push_back(*std::move(needed));
  }
  if (!problem_.call.op->effect && !price_result(loops, where, most, split)) {
    return std::nullopt;
  }
  if (const auto digest = digest_move(problem_.call, space, loops, mesh_)) {
    if (!where.empty()) {
      return std::nullopt;
    }
    split.bytes += bytes_of_digest(*digest);
    ++split.collectives;
  }
  split.loops = std::move(loops);
  return split;
}

// Whether an operand before this one is the same value, needed in the same layout.
bool SplitPricer::is_had(std::size_t operand, const ValueLayout& needed,
                         std::span<const ValueLayout> before) const {
  for (std::size_t i = 0; i < operand && !problem_.same.empty(); ++i) {
    if (problem_.same[i] == problem_.same[operand] && before[i] == needed) {
      return true;
    }
  }
  return false;
}

// From where it is nearest.
void SplitPricer::add_operand(std::size_t operand, const ValueLayout& needed, LoopSplit& split) {
  const TensorType& type = problem_.call.operands[operand];
  const ValueLayout* nearest = nullptr;
  std::int64_t least = 0;
  for (const ValueLayout* form : forms_of(problem_, operand)) {
    const std::int64_t received = resharder_.received(type.shape, *form, needed);
    if (nearest == nullptr || received < least) {
      least = received;
      nearest = form;
    }
  }
  split.bytes += least * static_cast<std::int64_t>(bytes_of(type.dtype));
  split.collectives += resharder_.collectives(type.shape, *nearest, needed);
}

// What the operands receive is known; how a sum is finished takes longest to find out.
bool SplitPricer::price_result(const std::vector<Axes>& loops, std::span<const Condition> where,
                               double most, LoopSplit& split) {
  const IterationSpace& space = problem_.space;
  std::optional<ValueLayout> result = layout_from_loops(space.result, loops, space, mesh_);
  if (!result) {
    return false;
  }
  add_reduced(loops, space, *result);
  if (!served_axes(space, loops, mesh_).empty()) {
    if (!where.empty() || !result->partial.empty()) {
      return false;
    }
    *result = served_layout(*result, problem_.result);
    split.bytes += bytes_served(*result);
    ++split.collectives;
  }
  if (!where.empty()) {
    result->where.assign(where.begin(), where.end());
    if (!result->partial.empty() || !can_hold(*result, where)) {
      return false;
    }
  }
  if (where.empty() && problem_.result.where.empty() &&
      static_cast<double>(split.bytes + least_to_finish(loops, *result)) > most) {
    return false;
  }
  const auto [received, collectives] = finishing(loops, *result);
  split.bytes += received * static_cast<std::int64_t>(bytes_of(problem_.call.result.dtype));
  split.collectives += collectives;
  split.result = *std::move(result);
  return true;
}

// In bytes.
std::int64_t SplitPricer::least_to_operand(std::size_t operand, const ValueLayout& needed) const {
  const TensorType& type = problem_.call.operands[operand];
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const ValueLayout* form : forms_of(problem_, operand)) {
    least = std::min(least, least_received(type.shape, mesh_, *form, needed));
  }
  return least * static_cast<std::int64_t>(bytes_of(type.dtype));
}

// In bytes. Nothing is known before of a sum that may be finished in stages.
std::int64_t SplitPricer::least_to_finish(const std::vector<Axes>& loops,
                                          const ValueLayout& result) const {
  if (problem_.adds != nullptr && !carrying_loops(problem_.space, loops, mesh_).empty()) {
    return 0;
  }
  const TensorType& type = problem_.call.result;
  return least_received(type.shape, mesh_, result, problem_.result) *
         static_cast<std::int64_t>(bytes_of(type.dtype));
}

// What a rank asks for.
std::int64_t SplitPricer::bytes_served(const ValueLayout& result) const {
  return resharder_.local_volume(problem_.call.result.shape, result) *
         static_cast<std::int64_t>(bytes_of(problem_.call.result.dtype));
}

// Elements that a rank receives until the result is where it is wanted, and in how many
// collectives.
std::pair<std::int64_t, std::int64_t> SplitPricer::finishing(const std::vector<Axes>& loops,
                                                             const ValueLayout& result) {
  if (!result.partial.empty()) {
    const StagedSum staged =
        in_stages({.call = problem_.call, .space = problem_.space, .loops = loops}, problem_.adds,
                  problem_.result, resharder_, mesh_);
    if (!staged.stages.empty()) {
      return {staged.received, staged.moves};
    }
  }
  const Shape& shape = problem_.call.result.shape;
  return {resharder_.received(shape, result, problem_.result),
          resharder_.collectives(shape, result, problem_.result)};
}

double SplitPricer::volume_of(const std::vector<Axes>& loops) const {
  double volume = 1;
  for (std::size_t l = 0; l < loops.size(); ++l) {
    volume *= static_cast<double>(mesh_.longest_part(problem_.space.loops[l].size, loops[l]));
  }
  return volume;
}

// Where only some ranks hold a slice, there may be other ways (split_price above).
std::optional<double> SplitPricer::least_bytes(const std::vector<Axes>& loops) const {
  const IterationSpace& space = problem_.space;
  std::int64_t bytes = 0;
  std::vector<ValueLayout> operands;
  for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
    std::optional<ValueLayout> needed = operand_from_loops(i, loops, space, mesh_);
    if (!needed) {
      return std::nullopt;
    }
    bytes += is_had(i, *needed, operands) ? 0 : least_to_operand(i, *needed);
    operands.push_back(*std::move(needed));
  }
  if (!problem_.call.op->effect && problem_.result.where.empty()) {
    std::optional<ValueLayout> result = layout_from_loops(space.result, loops, space, mesh_);
    if (!result) {
      return std::nullopt;
    }
    add_reduced(loops, space, *result);
    if (!served_axes(space, loops, mesh_).empty()) {
      *result = served_layout(*result, problem_.result);
      bytes += bytes_served(*result);
    }
    bytes += least_to_finish(loops, *result);
  }
  if (const auto digest = digest_move(problem_.call, space, loops, mesh_)) {
    bytes += bytes_of_digest(*digest);
  }
  return bytes;
}

double priced_arithmetic(const OpCall& call, const IterationSpace& space, double volume) {
  double whole = 1;
  for (const LoopDim& loop : space.loops) {
    whole *= loop.role == DimRole::kServed ? 1 : static_cast<double>(loop.size);
  }
  auto most = static_cast<double>(call.result.shape.volume());
  for (const TensorType& operand : call.operands) {
    most = std::max(most, static_cast<double>(operand.shape.volume()));
  }
  return whole > most ? 2 * volume / kFlopsPerByte : 0;
}

}  // namespace mtf
