#include "runtime/kernels/reduce/short_leaves.h"

#include <bit>
#include <numeric>

#include "runtime/kernels/tree.h"

namespace mtf {
namespace {

TreeLeaves groups_of(const TreeLeaves& leaves, std::int64_t count) {
  TreeLeaves groups{.loops = leaves.loops, .merges = {}};
  groups.loops.back().extent /= count;
  groups.loops.back().in *= count;
  const auto step = static_cast<std::size_t>(count);
  for (std::size_t i = step - 1; i < leaves.merges.size(); i += step) {
    groups.merges.push_back(leaves.merges[i] - std::countr_zero(step));
  }
  return groups;
}

// Whether side by side with the leaves of other results they would take more time: fewer elements
// than lanes do not, nor runs that have to be spread over lanes, unless there are many in a row.
bool are_worth_it(const ShortLeaves& leaves) {
  constexpr std::int64_t kLeastSpread = 13;
  if (std::has_single_bit(static_cast<std::uint64_t>(leaves.length))) {
    return leaves.count * leaves.length * leaves.row_count >= kReduceLanes;
  }
  return leaves.row_count == 1 && leaves.count == kMostShortLeaves && leaves.length >= kLeastSpread;
}

}  // namespace

std::optional<ShortLeaves> short_leaves_of(const ReductionPlan& plan) {
  if (plan.leaves.loops.empty() || plan.leaf_length == 0) {
    return std::nullopt;
  }
  const ReduceLoop& last = plan.leaves.loops.back();
  ShortLeaves found{.length = last.in, .rows = plan.inside, .groups = {}};
  const bool has_runs = plan.run.in == 1 && plan.run.extent == last.in;
  if (!has_runs && last.in != 1) {
    return std::nullopt;
  }
  if (!has_runs && plan.run.extent > 1) {
    found.rows.push_back(plan.run);
  }
  for (const ReduceLoop& loop : found.rows) {
    found.row_count *= loop.extent;
  }
  found.count = std::gcd(last.extent, kMostShortLeaves);
  if (found.length > kMostShortLength || found.count < kFewestShortLeaves || !are_worth_it(found) ||
      !are_subtrees(plan.leaves.merges, found.count)) {
    return std::nullopt;
  }
  found.groups = groups_of(plan.leaves, found.count);
  return found;
}

}  // namespace mtf
