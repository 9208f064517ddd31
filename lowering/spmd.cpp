#include "lowering/spmd.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "lowering/memory/arena.h"

namespace mtf {

std::string_view to_string(StepKind kind) {
  switch (kind) {
    case StepKind::kKernel:
      return "kernel";
    case StepKind::kSlice:
      return "slice";
    case StepKind::kAllGather:
      return "all_gather";
    case StepKind::kAllToAll:
      return "all_to_all";
    case StepKind::kPermute:
      return "permute";
    case StepKind::kHaloExchange:
      return "halo_exchange";
    case StepKind::kExclusiveScan:
      return "exclusive_scan";
    case StepKind::kSortExchange:
      return "sort_exchange";
    case StepKind::kServe:
      return "serve";
    case StepKind::kAllReduce:
      return "all_reduce";
    case StepKind::kReduceScatter:
      return "reduce_scatter";
    case StepKind::kBroadcast:
      return "broadcast";
    case StepKind::kReduce:
      break;
  }
  return "reduce";
}

bool is_collective(StepKind kind) {
  return kind != StepKind::kKernel && kind != StepKind::kSlice;
}

std::size_t slot_of(const Totals& totals, StepKind kind, Axes axes) {
  std::ranges::sort(axes);
  const auto found = std::ranges::find_if(totals.collectives, [&](const CollectiveTotal& total) {
    return total.kind == kind && total.axes == axes;
  });
  return static_cast<std::size_t>(found - totals.collectives.begin());
}

std::size_t collective_slot(Totals& totals, StepKind kind, Axes axes) {
  std::ranges::sort(axes);
  const std::size_t slot = slot_of(totals, kind, axes);
  if (slot == totals.collectives.size()) {
    totals.collectives.push_back({.kind = kind, .axes = std::move(axes)});
  }
  return slot;
}

bool is_product_of_two(const OpDef& op, std::size_t operands) {
  return op.algebra == Algebra::kEinsum && operands % 2 == 0;
}

SplitCall unsplit_call(const Program& source, ValueId id) {
  SplitCall call{.call = call_of(source, id), .space = {}, .loops = {}};
  call.call.span = {};
  call.space = call.call.op->space(call.call);
  return call;
}

bool is_busy(const SpmdProgram& program, const LocalCall& call, std::int64_t rank) {
  return !call.result.valid() || holds(program.at(call.result).layout, program.mesh, rank);
}

namespace {

// Of slices of the types that `local` says values have.
template <typename F>
double flops_of_slices(const LocalCall& call, const F& local) {
  if (call.op().flops == nullptr) {
    return 0;
  }
  OpCall slices = call.split->call;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    slices.operands[i] = local(call.operands[i]);
  }
  if (call.result.valid()) {
    slices.result = local(call.result);
  }
  return slices.op->flops(slices);
}

}  // namespace

double flops_of(const SpmdProgram& program, const LocalCall& call) {
  return flops_of_slices(call, [&](SpmdId id) { return program.at(id).local; });
}

double flops_on(const SpmdProgram& program, const LocalCall& call, std::int64_t rank) {
  if (!is_busy(program, call, rank)) {
    return 0;
  }
  return flops_of_slices(call, [&](SpmdId id) {
    const SpmdValue& value = program.at(id);
    const Slice slice = slice_of(value.type.shape, value.layout, program.mesh, rank);
    return TensorType{.dtype = value.type.dtype, .shape = shape_of(value.type.shape, slice)};
  });
}

bool is_sum_of_blocks(const SpmdProgram& program, SpmdId id) {
  const SpmdValue& value = program.at(id);
  return value.origin.valid() &&
         value.type.shape.rank() != program.source.at(value.origin).type.shape.rank();
}

bool is_digest(const SpmdProgram& program, SpmdId id) {
  return is_sum_of_blocks(program, id) &&
         unsplit_call(program.source, program.at(id).origin).space->digest.has_value();
}

std::vector<SpmdId> read_by(const Step& step) {
  std::vector<SpmdId> ids;
  for_read(step, [&ids](SpmdId id) { ids.push_back(id); });
  return ids;
}

ValueId made_by(const SpmdProgram& program, const Step& step) {
  return step.kind == StepKind::kKernel ? step.calls.back().origin : program.at(step.to).origin;
}

std::int64_t SpmdValue::piece_bytes() const {
  const std::int64_t extent = local.shape[cut].size;
  return extent == 0 ? 0 : rounded(local.bytes() / extent * ((extent + pieces - 1) / pieces));
}

std::int64_t SpmdValue::held_bytes() const {
  return pieces == 1 ? local.bytes() : 2 * piece_bytes();
}

std::int64_t Stream::part_at(const Mesh& mesh, std::int64_t rank, std::int64_t time) const {
  const bool is_power = std::has_single_bit(static_cast<std::uint64_t>(parts));
  std::int64_t part = time;
  for (const Axes& axes : starts) {
    const std::int64_t first = mesh.index_along(rank, axes) * parts / mesh.size_of(axes);
    part = is_power ? part ^ first : (part + first) % parts;
  }
  return part;
}

Interval Stream::part_of(std::int64_t extent, std::int64_t part) const {
  // extent * p / parts, of which the product alone may be too large.
  const auto edge = [&](std::int64_t p) { return extent / parts * p + extent % parts * p / parts; };
  return from_to(edge(part), edge(part + 1));
}

std::size_t done_at(const SpmdProgram& program, std::size_t step) {
  while (program.steps[step].kind != StepKind::kKernel &&
         program.at(program.steps[step].to).pieces > 1) {
    ++step;
  }
  return step;
}

StepRange message_of(const SpmdProgram& program, std::size_t step) {
  StepRange range{.begin = step, .end = step + 1};
  while (range.begin > 0 && program.steps[range.begin - 1].with_next) {
    --range.begin;
  }
  while (program.steps[range.end - 1].with_next) {
    ++range.end;
  }
  return range;
}

std::int64_t message_bytes(const SpmdProgram& program, std::size_t step) {
  if (program.steps[step].with_next) {
    return 0;
  }
  std::int64_t bytes = program.steps[step].bytes;
  for (std::size_t s = step; s-- > 0 && program.steps[s].with_next;) {
    bytes += program.steps[s].bytes;
  }
  return bytes;
}

}  // namespace mtf
