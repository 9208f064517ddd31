#include "runtime/kernels/reduce/reduction_plan.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <memory>
#include <utility>

#include "runtime/kernels/reduce/short_leaves.h"
#include "runtime/kernels/tree.h"

namespace mtf {
namespace {

constexpr std::int64_t kNearCacheBytes = std::int64_t{1} << 20;  // that a near cache may have
constexpr std::int64_t kEnoughResults = 16;                      // side by side
constexpr std::int64_t kAheadBytes =
    8192;  // on a Zen 5, half or twice as many are 1.3 times slower

// Appends a loop inside the others, as a longer one where memory goes on.
void append(ReduceLoops& loops, const ReduceLoop& loop) {
  if (loop.extent == 1) {
    return;
  }
  if (!loops.empty() && loops.back().in == loop.extent * loop.in &&
      loops.back().out == loop.extent * loop.out) {
    loops.back() = {.extent = loops.back().extent * loop.extent, .in = loop.in, .out = loop.out};
  } else {
    loops.push_back(loop);
  }
}

ReduceLoop take(ReduceLoops& loops, std::size_t i) {
  const ReduceLoop loop = loops[i];
  loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
  return loop;
}

// The loop whose results lie side by side, if it has enough of them, or the longest.
ReduceLoop take_side(ReduceLoops& loops) {
  if (loops.empty()) {
    return {};
  }
  std::size_t best = 0;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const bool adjacent = loops[i].in == 1 && loops[i].extent >= kEnoughResults;
    if (adjacent || loops[i].extent > loops[best].extent) {
      best = i;
    }
    if (adjacent) {
      break;
    }
  }
  return take(loops, best);
}

// From a row to one that comes so many bytes later, as rows no hardware expects are asked for where
// no near cache has them: in the same run, or in one after it.
std::int64_t ahead_of(const ReductionPlan& plan) {
  const auto size = static_cast<std::int64_t>(bytes_of(plan.stored));
  if (plan.side.in != 1 || elements_of(plan) * size < kNearCacheBytes) {
    return 0;
  }
  const std::int64_t row_bytes =
      std::min(plan.side.extent, results_together(bytes_of(plan.dtype))) * size;
  const std::int64_t rows = std::max<std::int64_t>(kAheadBytes / row_bytes, 1);
  if (rows < plan.run.extent) {
    return rows * plan.run.in;
  }
  const ReduceLoops& outside = plan.inside.empty() ? plan.leaves.loops : plan.inside;
  return outside.empty() ? 0 : rows / plan.run.extent * outside.back().in;
}

// Per reduced dim. Where order does not show, the blocks of the first are enough, for threads to
// have some each, and of what is short there is one.
std::vector<std::int64_t> leaves_of(const Reduction& reduction, bool ordered) {
  constexpr std::int64_t kLong = 1 << 12;
  std::vector<std::int64_t> blocks;
  std::int64_t length = 1;
  for (const ReducedDim& dim : reduction.reduced) {
    blocks.push_back(ordered || blocks.empty() ? dim.blocks : 1);
    length *= dim.extent / blocks.back();
  }
  if (!ordered && !blocks.empty() && length < kLong) {
    blocks.front() = 1;
  }
  return blocks;
}

}  // namespace

std::int64_t trips_of(const ReduceLoops& loops) {
  std::int64_t volume = 1;
  for (const ReduceLoop& loop : loops) {
    volume *= loop.extent;
  }
  return volume;
}

std::int64_t elements_of(const ReductionPlan& plan) {
  return trips_of(plan.results) * plan.side.extent * trips_of(plan.leaves.loops) * plan.leaf_length;
}

std::shared_ptr<const ReductionPlan> plan_reduction(const Reduction& reduction, DType stored) {
  const DType dtype = wide_of(stored);
  // The order of terms shows in the bits.
  const bool ordered =
      is_float(dtype) && reduction.kind != ReduceKind::kMax && reduction.kind != ReduceKind::kMin;
  ReductionPlan plan{.kind = reduction.kind, .dtype = dtype, .stored = stored};
  std::vector<KeptDim> kept = reduction.kept;
  std::ranges::stable_sort(
      kept, [](const KeptDim& x, const KeptDim& y) { return std::abs(x.in) > std::abs(y.in); });
  for (const KeptDim& dim : kept) {
    append(plan.results, {.extent = dim.extent, .in = dim.in, .out = dim.out});
  }
  plan.side = take_side(plan.results);
  const std::vector<std::int64_t> blocks = leaves_of(reduction, ordered);
  for (std::size_t d = 0; d < blocks.size(); ++d) {
    const ReducedDim& dim = reduction.reduced[d];
    assert(dim.blocks > 0 && dim.extent % dim.blocks == 0);
    const std::int64_t length = dim.extent / blocks[d];
    append(plan.leaves.loops, {.extent = blocks[d], .in = dim.in * length});
    append(plan.inside, {.extent = length, .in = dim.in});
    plan.leaf_length *= length;
  }
  if (!plan.inside.empty()) {
    plan.run = take(plan.inside, plan.inside.size() - 1);
  }
  plan.ahead = ahead_of(plan);
  plan.leaves.merges = combine_tree_blocks(blocks);
  if (ordered) {
    plan.short_leaves = short_leaves_of(plan);
  }
  return std::make_shared<const ReductionPlan>(std::move(plan));
}

}  // namespace mtf
