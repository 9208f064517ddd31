// The arithmetic of counting.

#include "runtime/count.h"

#include <algorithm>

namespace mtf {

std::int64_t handed_elements(StepKind kind, std::int64_t before, std::int64_t after,
                             std::int64_t ranks) {
  return kind == StepKind::kAllToAll        ? after
         : kind == StepKind::kReduceScatter ? after * ranks
                                            : before;
}

std::int64_t received_elements(StepKind kind, std::int64_t handed, std::int64_t ranks) {
  switch (kind) {
    case StepKind::kKernel:
    case StepKind::kSlice:
      break;
    case StepKind::kAllGather:  // every other rank's slice
      return handed * (ranks - 1);
    case StepKind::kAllToAll:  // a block from every other rank
    case StepKind::kReduceScatter:
      return handed / ranks * (ranks - 1);
    case StepKind::kPermute:
    case StepKind::kBroadcast:  // all but the one that has it; it is counted as they are
    case StepKind::kReduce:
      return handed;
    case StepKind::kAllReduce:  // a reduce-scatter and an all-gather
      return 2 * handed * (ranks - 1) / ranks;
  }
  return 0;
}

void count_collective(CollectiveTotal& total, std::int64_t handed, std::int64_t received,
                      std::int64_t width) {
  total.calls += 1;
  total.elements += handed;
  total.received += received;
  total.bytes += received * width;
}

namespace {

// Whether some ranks have no memory for a tensor that leaves or enters the program.
bool is_partly_held(const SpmdProgram& program) {
  const auto partly = [&](SpmdId id) { return !program.at(id).layout.where.empty(); };
  return std::ranges::any_of(program.inputs, partly) ||
         std::ranges::any_of(program.outputs, partly);
}

}  // namespace

bool as_planned(const SpmdProgram& program, const Totals& counted) {
  const Totals& planned = program.totals;
  const bool uneven = program.mesh.uneven;
  const auto fits = [uneven](auto plan, auto count) {
    return uneven ? count <= plan : count == plan;
  };
  const auto same = [&fits](const CollectiveTotal& a, const CollectiveTotal& b) {
    return a.kind == b.kind && a.axes == b.axes && a.calls == b.calls &&
           fits(a.elements, b.elements) && fits(a.received, b.received) && fits(a.bytes, b.bytes);
  };
  const bool may_hold_less = uneven || is_partly_held(program);
  return fits(planned.flops, counted.flops) &&
         std::ranges::is_permutation(planned.collectives, counted.collectives, same) &&
         counted.peak_bytes <= planned.peak_bytes &&
         (may_hold_less || counted.peak_bytes == planned.peak_bytes);
}

void clear(Totals& totals) {
  totals.flops = 0;
  totals.peak_bytes = 0;
  for (CollectiveTotal& total : totals.collectives) {
    total.calls = 0;
    total.elements = 0;
    total.received = 0;
    total.bytes = 0;
  }
}

void add(Totals& sum, const Totals& part) {
  sum.flops += part.flops;
  sum.peak_bytes = std::max(sum.peak_bytes, part.peak_bytes);
  sum.parameters = std::max(sum.parameters, part.parameters);
  for (const CollectiveTotal& total : part.collectives) {
    CollectiveTotal& mine = sum.collectives[collective_slot(sum, total.kind, total.axes)];
    mine.calls += total.calls;
    mine.elements += total.elements;
    mine.received += total.received;
    mine.bytes += total.bytes;
  }
}

}  // namespace mtf
