#include "lowering/split.h"

#include <algorithm>
#include <tuple>

namespace mtf {
namespace {

// For one axis, the loops that some tensor would split over it.
struct Claim {
  AxisId axis = 0;
  std::vector<std::optional<std::size_t>> loops;  // nullopt: no loop
};

class Chooser {
 public:
  Chooser(const SplitProblem& problem, Resharder& resharder, const Mesh& mesh)
      : problem_(problem), resharder_(resharder), mesh_(mesh), order_(problem.space.loops.size()) {
    if (!problem.firm.empty()) {
      claim_all(problem.firm, problem.firm.back());
    }
    firm_ = claims_.size();
    claim_all(problem.operands, problem.result);
  }

  LoopSplit run() {
    for (Claim& claim : claims_) {
      if (claim.loops.size() > 1) {
        claim.loops.emplace_back(std::nullopt);
      }
    }
    consider_all();
    if (!best_) {  // some axis has to be gathered
      for (Claim& claim : claims_) {
        if (claim.loops.back()) {
          claim.loops.emplace_back(std::nullopt);
        }
      }
      consider_all();
    }
    find_otherwise();
    return *best_;
  }

 private:
  // The result first: where the bytes are the same, an operand is moved, which others may share.
  void claim_all(std::span<const ValueLayout> operands, const ValueLayout& result) {
    if (!problem_.call.op->effect) {
      claim(project(problem_.space.result, result, problem_.space, mesh_));
    }
    for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
      claim(project(problem_.space.operands[i], operands[i], problem_.space, mesh_));
    }
  }

  void claim(const std::vector<Axes>& loops) {
    for (std::size_t l = 0; l < loops.size(); ++l) {
      for (const AxisId axis : loops[l]) {
        claim(axis, l);
        if (!has(order_[l], axis)) {
          order_[l].push_back(axis);
        }
      }
    }
  }

  void claim(AxisId axis, std::size_t loop) {
    const auto found = std::ranges::find(claims_, axis, &Claim::axis);
    if (found == claims_.end()) {
      claims_.push_back({.axis = axis, .loops = {loop}});
    } else if (static_cast<std::size_t>(found - claims_.begin()) >= firm_ &&
               std::ranges::find(found->loops, loop) == found->loops.end()) {
      found->loops.emplace_back(loop);
    }
  }

  bool advance(std::vector<std::size_t>& pick) const {
    for (std::size_t c = 0; c < pick.size(); ++c) {
      if (++pick[c] < claims_[c].loops.size()) {
        return true;
      }
      pick[c] = 0;
    }
    return false;
  }

  void consider_all() {
    std::vector<std::size_t> pick(claims_.size(), 0);
    do {
      consider(pick);
    } while (advance(pick));
  }

  void consider(const std::vector<std::size_t>& pick) {
    std::vector<Axes> loops(order_.size());
    for (std::size_t l = 0; l < loops.size(); ++l) {
      for (const AxisId axis : order_[l]) {
        const auto c = static_cast<std::size_t>(std::ranges::find(claims_, axis, &Claim::axis) -
                                                claims_.begin());
        if (claims_[c].loops[pick[c]] == l) {
          loops[l].push_back(axis);
        }
      }
      if (!mesh_.splits(problem_.space.loops[l].size, loops[l])) {
        return;
      }
    }
    const std::optional<LoopSplit> split = priced(std::move(loops));
    if (split) {
      keep_better(*split);
    }
  }

  // The next best of all, then for each axis the best that uses it otherwise; where no choice does,
  // what it would be without the axis.
  void find_otherwise() {
    best_->chosen = considered_.size() > 1;
    std::ranges::stable_sort(considered_, {}, &PricedLoops::bytes);
    std::erase_if(considered_, [this](const PricedLoops& c) { return c.loops == best_->loops; });
    if (!considered_.empty()) {
      best_->otherwise.push_back(considered_.front());
    }
    for (const Claim& claim : claims_) {
      const auto differs = [&](const PricedLoops& other) {
        return uses(other.loops, claim.axis) != uses(best_->loops, claim.axis);
      };
      if (best_->bytes == 0 || std::ranges::any_of(best_->otherwise, differs)) {
        continue;
      }
      const auto other = std::ranges::find_if(considered_, differs);
      if (other != considered_.end()) {
        best_->otherwise.push_back(*other);
      } else {
        consider_without(claim.axis);
      }
    }
  }

  // The loop that an axis splits, or none.
  static std::size_t uses(const std::vector<Axes>& loops, AxisId axis) {
    const auto split = [axis](const Axes& axes) { return has(axes, axis); };
    return static_cast<std::size_t>(std::ranges::find_if(loops, split) - loops.begin());
  }

  void consider_without(AxisId axis) {
    std::vector<Axes> loops = best_->loops;
    for (Axes& axes : loops) {
      std::erase(axes, axis);
    }
    const std::optional<LoopSplit> less =
        loops == best_->loops ? std::nullopt : priced(std::move(loops));
    if (less) {
      best_->otherwise.push_back({.loops = less->loops, .bytes = less->bytes});
    }
  }

  void keep_better(LoopSplit split) {
    considered_.push_back({.loops = split.loops, .bytes = split.bytes});
    if (!best_ || std::tie(split.bytes, split.volume) < std::tie(best_->bytes, best_->volume)) {
      best_ = std::move(split);
    }
  }

  std::optional<LoopSplit> priced(const std::vector<Axes>& loops) {
    std::optional<LoopSplit> split = priced(loops, {});
    if (const std::vector<Condition>& where = problem_.result.where; split && !where.empty()) {
      const std::optional<LoopSplit> held = priced(loops, where);
      return held && held->bytes <= split->bytes ? held : split;
    }
    return split;
  }

  // `where`: only those ranks do anything.
  std::optional<LoopSplit> priced(std::vector<Axes> loops, std::span<const Condition> where) {
    LoopSplit split;
    const IterationSpace& space = problem_.space;
    split.volume = 1;
    for (std::size_t l = 0; l < loops.size(); ++l) {
      split.volume *= static_cast<double>(mesh_.longest_part(space.loops[l].size, loops[l]));
    }
    for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
      std::optional<ValueLayout> needed = layout_from_loops(space.operands[i], loops, space, mesh_);
      if (!needed || !confine(*needed, problem_.operands[i], where)) {
        return std::nullopt;
      }
      const TensorType& type = problem_.call.operands[i];
      split.bytes += received(i, *needed) * static_cast<std::int64_t>(bytes_of(type.dtype));
      split.operands.push_back(*std::move(needed));
    }
    if (!problem_.call.op->effect && !price_result(loops, where, split)) {
      return std::nullopt;
    }
    split.loops = std::move(loops);
    return split;
  }

  // Leaves an operand to the ranks that hold it. Scalars all ranks have. False: it is elsewhere.
  static bool confine(ValueLayout& needed, const ValueLayout& at,
                      std::span<const Condition> where) {
    if (where.empty() || needed.dims.empty()) {
      return true;
    }
    needed.where.assign(where.begin(), where.end());
    return at.where == needed.where && can_hold(needed, where);
  }

  // From where it is nearest.
  [[nodiscard]] std::int64_t received(std::size_t operand, const ValueLayout& needed) {
    const Shape& shape = problem_.call.operands[operand].shape;
    std::int64_t least = resharder_.received(shape, problem_.operands[operand], needed);
    if (!problem_.copies.empty()) {
      for (const ValueLayout& copy : problem_.copies[operand]) {
        least = std::min(least, resharder_.received(shape, copy, needed));
      }
    }
    return least;
  }

  bool price_result(const std::vector<Axes>& loops, std::span<const Condition> where,
                    LoopSplit& split) {
    const IterationSpace& space = problem_.space;
    std::optional<ValueLayout> result = layout_from_loops(space.result, loops, space, mesh_);
    if (!result) {
      return false;
    }
    add_reduced(loops, space, *result);
    if (!where.empty()) {
      result->where.assign(where.begin(), where.end());
      if (!result->partial.empty() || !can_hold(*result, where)) {
        return false;
      }
    }
    const TensorType& type = problem_.call.result;
    split.bytes += resharder_.received(type.shape, *result, problem_.result) *
                   static_cast<std::int64_t>(bytes_of(type.dtype));
    split.result = *std::move(result);
    return true;
  }

  const SplitProblem& problem_;
  Resharder& resharder_;
  const Mesh& mesh_;
  std::vector<Claim> claims_;
  std::size_t firm_ = 0;     // how many of them are settled: their axes take no further loops
  std::vector<Axes> order_;  // per loop, the order in which its axes were first claimed
  std::vector<PricedLoops> considered_;
  std::optional<LoopSplit> best_;
};

}  // namespace

std::vector<Axes> project(const DimMap& map, const ValueLayout& layout, const IterationSpace& space,
                          const Mesh& mesh) {
  std::vector<Axes> loops(space.loops.size());
  for (std::size_t d = 0; d < map.size(); ++d) {
    std::size_t factor = 0;
    std::int64_t left = map[d].empty() ? 1 : space.loops[map[d][0]].size;
    for (const AxisId axis : layout.dims[d]) {
      const std::int64_t size = mesh.axes[axis].size;
      while (left == 1 && size > 1 && factor + 1 < map[d].size()) {
        left = space.loops[map[d][++factor]].size;
      }
      const bool divides = left % size == 0 || (mesh.uneven && map[d].size() == 1);
      const bool fits =
          factor < map[d].size() && divides && space.loops[map[d][factor]].role != DimRole::kWhole;
      if (!fits) {
        break;
      }
      loops[map[d][factor]].push_back(axis);
      left = (left + size - 1) / size;
    }
  }
  return loops;
}

std::optional<ValueLayout> layout_from_loops(const DimMap& map, std::span<const Axes> loops,
                                             const IterationSpace& space, const Mesh& mesh) {
  ValueLayout layout;
  for (const std::vector<std::size_t>& factors : map) {
    Axes axes;
    bool full = true;  // every factor so far is split down to single elements
    for (const std::size_t loop : factors) {
      const std::int64_t size = space.loops[loop].size;
      const std::int64_t ways = mesh.size_of(loops[loop]);
      const bool even = factors.size() == 1 || size % ways == 0;  // or others cut its blocks
      if (!even || (!loops[loop].empty() && !full)) {
        return std::nullopt;
      }
      axes.insert(axes.end(), loops[loop].begin(), loops[loop].end());
      full = full && ways == size;
    }
    layout.dims.push_back(std::move(axes));
  }
  return layout;
}

void add_reduced(std::span<const Axes> loops, const IterationSpace& space, ValueLayout& result) {
  for (std::size_t l = 0; l < loops.size(); ++l) {
    if (space.loops[l].role == DimRole::kReduced) {
      result.partial.insert(result.partial.end(), loops[l].begin(), loops[l].end());
    }
  }
}

bool can_hold(const ValueLayout& layout, std::span<const Condition> where) {
  const auto splits = [&layout](AxisId axis) {
    return std::ranges::any_of(layout.dims, [axis](const Axes& axes) { return has(axes, axis); });
  };
  return std::ranges::all_of(where, [&](const Condition& condition) {
    return !splits(condition.axis) && (!condition.same || splits(*condition.same));
  });
}

LoopSplit choose_split(const SplitProblem& problem, Resharder& resharder, const Mesh& mesh) {
  return Chooser(problem, resharder, mesh).run();
}

}  // namespace mtf
