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
  if (!leaves.is_spread()) {
    return leaves.count * leaves.length * leaves.row_count >= kReduceLanes;
  }
  return leaves.row_count == 1 && leaves.count == kMostJoined && leaves.length >= kLeastSpread;
}

// A power of two that divides how many there are side by side. Those that are joined in other ways
// than in rows with a lane for each element are few.
std::int64_t count_of(const ShortLeaves& leaves, std::int64_t extent) {
  constexpr std::int64_t kWidest = 512;  // elements of a row
  const auto rows = std::bit_ceil(static_cast<std::uint64_t>(leaves.row_count));
  const std::int64_t kinds =
      std::min<std::int64_t>(static_cast<std::int64_t>(rows), kReduceLanes / leaves.lanes());
  const bool few = leaves.is_spread() || leaves.has_pieces();
  const std::int64_t most =
      few ? kMostJoined : std::min(kWidest, kRowRoom / kinds) / leaves.lanes();
  return std::gcd(extent, most);
}

// Runs that lanes are cut into, or that are cut into lanes, or one by one so short that they are
// spread over lanes. Longer ones of a single row are joined as they lie.
bool has_fit_runs(const ShortLeaves& leaves) {
  return leaves.length < std::int64_t{2} * kReduceLanes ||
         (leaves.length <= kMostJoined * kReduceLanes && !leaves.is_spread() &&
          leaves.row_count > 1 && !leaves.has_pieces());
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
  found.count = count_of(found, last.extent);
  while (!are_subtrees(plan.leaves.merges, found.count)) {
    found.count /= 2;
  }
  if (!has_fit_runs(found) || found.count < kFewestShortLeaves || !are_worth_it(found)) {
    return std::nullopt;
  }
  found.groups = groups_of(plan.leaves, found.count);
  return found;
}

}  // namespace mtf
