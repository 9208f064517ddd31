// A search over the axes, one after the other: each splits one of the loops that it may split, or
// none. What is sure to cost more than the best split so far is left out (split_bound.h); the first
// one that is priced gives each axis to the loop that claimed it first.

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

#include "ir/kernel.h"
#include "lowering/partition/split.h"
#include "lowering/partition/split_bound.h"
#include "lowering/partition/split_price.h"

namespace mtf {
namespace {

// What is compared: bytes and priced arithmetic, collectives, volume.
using Price = std::tuple<double, std::int64_t, double>;

class Chooser {
 public:
  Chooser(const SplitProblem& problem, Resharder& resharder, const Mesh& mesh)
      : problem_(problem),
        mesh_(mesh),
        pricer_(problem, resharder, mesh),
        order_(problem.space.loops.size()) {
    if (!problem.firm.empty()) {
      claim_all(problem.firm, problem.firm.back());
    }
    firm_ = axes_.size();
    claim_all(problem.operands, problem.result);
    for (const std::vector<LoopOf>& claims : claims_) {
      is_contested_ = is_contested_ || claims.size() > 1;
    }
    may_ = claims_;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (agree_on(i)) {
        continue;
      }
      may_[i].emplace_back(std::nullopt);
      if (i >= firm_) {
        add_unclaimed(i);
      }
    }
    keep_pinned();
    find_bounds();
  }

  LoopSplit run() {
    decide();
    if (!best_) {  // what is pinned cannot be split
      for (std::vector<LoopOf>& loops : may_) {
        loops.emplace_back(std::nullopt);
      }
      decide();
    }
    if (!problem_.price_only) {
      find_otherwise();
    }
    return *best_;
  }

 private:
  // ---- claims -------------------------------------------------------------------------------

  // The result first: where the bytes are the same, an operand is moved, which others may share.
  void claim_all(std::span<const ValueLayout> operands, const ValueLayout& result) {
    if (!problem_.call.op->effect) {
      claim(project(problem_.space.result, result, problem_.space, mesh_));
    }
    for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
      claim(project(problem_.space.operands[i], operands[i], problem_.space, mesh_));
    }
  }

  void claim(std::vector<Axes> loops) {
    for (std::size_t l = 0; l < loops.size(); ++l) {
      for (const AxisId axis : loops[l]) {
        claim(axis, l);
        if (!has(order_[l], axis)) {
          order_[l].push_back(axis);
        }
      }
    }
    projected_.push_back(std::move(loops));
  }

  void claim(AxisId axis, std::size_t loop) {
    const auto found = std::ranges::find(axes_, axis);
    const auto at = static_cast<std::size_t>(found - axes_.begin());
    if (found == axes_.end()) {
      axes_.push_back(axis);
      claims_.push_back({loop});
    } else if (at >= firm_ && std::ranges::find(claims_[at], LoopOf(loop)) == claims_[at].end()) {
      claims_[at].emplace_back(loop);
    }
  }

  // Whether all tensors that have the dim of a loop split it over the axis, and nothing else claims
  // it: then it splits this loop, as in Mesh-TensorFlow, whatever else might move less.
  [[nodiscard]] bool agree_on(std::size_t axis) const {
    if (claims_[axis].size() != 1) {
      return false;
    }
    const std::size_t loop = *claims_[axis].front();
    const IterationSpace& space = problem_.space;
    if (space.loops[loop].role == DimRole::kSelected ||
        space.loops[loop].role == DimRole::kServed) {
      return false;  // what ranks propose, or ask for, may be more than the dim itself
    }
    std::size_t tensor = 0;  // in the order of claim_all
    const auto splits = [&](const DimMap& map) {
      const bool held = has(projected_[tensor++][loop], axes_[axis]);
      return held || std::ranges::none_of(map, [loop](const std::vector<std::size_t>& factors) {
               return std::ranges::find(factors, loop) != factors.end();
             });
    };
    return (problem_.call.op->effect || splits(space.result)) &&
           std::ranges::all_of(space.operands, splits);
  }

  // Two operands that hold an axis along different dims may both be moved to a third. A sum that no
  // tensor asks for must be one in blocks of the canonical order.
  void add_unclaimed(std::size_t axis) {
    if (mesh_.uneven || priced_arithmetic(problem_.call, problem_.space, 1) == 0) {
      return;
    }
    const std::vector<LoopDim>& loops = problem_.space.loops;
    const std::vector<std::int64_t> blocks = canonical_blocks(problem_.space);
    const auto sums = std::ranges::count(loops, DimRole::kReduced, &LoopDim::role);
    for (std::size_t l = 0; l < loops.size(); ++l) {
      const std::int64_t size = mesh_.axes[axes_[axis]].size;
      const bool fits = loops[l].role == DimRole::kKept ? loops[l].size % size == 0
                                                        : loops[l].role == DimRole::kReduced &&
                                                              sums == 1 && blocks[l] % size == 0;
      if (fits && std::ranges::find(may_[axis], LoopOf(l)) == may_[axis].end()) {
        may_[axis].emplace_back(l);
      }
    }
  }

  // Who writes `@` behind an operand wants its axes used: they may go to another loop that claims
  // them, but not to none.
  void keep_pinned() {
    for (std::size_t i = 0; i < problem_.pinned.size(); ++i) {
      for (const Axes& axes : problem_.operands[i].dims) {
        for (const AxisId axis : axes) {
          if (problem_.pinned[i] && has(axes_, axis)) {
            std::erase(may_[number(axis)], LoopOf());
          }
        }
      }
    }
  }

  // ---- search -------------------------------------------------------------------------------

  void find_bounds() {
    for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
      std::vector<const ValueLayout*> forms = {&problem_.operands[i]};
      if (!problem_.copies.empty()) {
        for (const ValueLayout& copy : problem_.copies[i]) {
          forms.push_back(&copy);
        }
      }
      bounds_.emplace_back(problem_.call.operands[i], problem_.space.operands[i], forms,
                           problem_.space, mesh_, !windows_of(problem_.space, i).empty());
    }
    if (!problem_.call.op->effect) {
      const std::vector<const ValueLayout*> wanted = {&problem_.result};
      bounds_.emplace_back(problem_.call.result, problem_.space.result, wanted, problem_.space,
                           mesh_);
    }
  }

  [[nodiscard]] Price bound() const {
    double volume = 1;
    for (const LoopDim& loop : problem_.space.loops) {
      volume *= static_cast<double>(loop.size);
    }
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (i >= picked_.size() || picked_[i]) {
        volume /= static_cast<double>(mesh_.axes[axes_[i]].size);
      }
    }
    double bytes = 0;
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
      bytes += i < problem_.operands.size() ? bounds_[i].operand(axes_, picked_)
                                            : bounds_[i].result(axes_, picked_);
    }
    constexpr double kRounding = 1e-9;  // products of fractions
    const double arithmetic = priced_arithmetic(problem_.call, problem_.space, volume);
    return {(bytes + arithmetic) * (1 - kRounding), bytes > kRounding ? 1 : 0,
            volume * (1 - kRounding)};
  }

  void decide() {
    if (best_ && bound() >= price_of(*best_)) {
      return;
    }
    if (picked_.size() == axes_.size()) {
      consider_orders();
      return;
    }
    for (const LoopOf loop : may_[picked_.size()]) {
      picked_.push_back(loop);
      decide();
      picked_.pop_back();
    }
  }

  // Every order of a loop's axes that some tensor has, or the loops were claimed in.
  void consider_orders() {
    std::vector<Axes> loops(order_.size());
    for (std::size_t l = 0; l < loops.size(); ++l) {
      for (const AxisId axis : order_[l]) {
        if (picked_[number(axis)] == l) {
          loops[l].push_back(axis);
        }
      }
      for (std::size_t i = 0; i < axes_.size(); ++i) {  // of axes that did not claim it
        if (picked_[i] == l && !has(loops[l], axes_[i])) {
          loops[l].push_back(axes_[i]);
        }
      }
      if (!mesh_.splits(problem_.space.loops[l].size, loops[l])) {
        return;
      }
    }
    order_from(loops, 0);
  }

  void order_from(std::vector<Axes>& loops, std::size_t loop) {
    while (loop < loops.size() && loops[loop].size() < 2) {
      ++loop;
    }
    if (loop == loops.size()) {
      if (!best_ || !is_hopeless(loops)) {
        consider(loops);
      }
      return;
    }
    const Axes first = loops[loop];
    std::vector<Axes> orders = {first};
    for (const std::vector<Axes>& had : projected_) {
      Axes order;
      std::ranges::copy_if(had[loop], std::back_inserter(order),
                           [&first](AxisId axis) { return has(first, axis); });
      std::ranges::copy_if(first, std::back_inserter(order),
                           [&order](AxisId axis) { return !has(order, axis); });
      if (std::ranges::find(orders, order) == orders.end()) {
        orders.push_back(std::move(order));
      }
    }
    for (const Axes& order : orders) {
      loops[loop] = order;
      order_from(loops, loop + 1);
    }
    loops[loop] = first;
  }

  // Whether the split is sure to be neither the best nor, if one asks, the next best of all.
  [[nodiscard]] bool is_hopeless(const std::vector<Axes>& loops) const {
    const std::optional<double> bytes = pricer_.least_bytes(loops);
    if (!bytes) {
      return true;
    }
    const double arithmetic =
        priced_arithmetic(problem_.call, problem_.space, pricer_.volume_of(loops));
    return (problem_.price_only || *bytes >= static_cast<double>(next_bytes_)) &&
           *bytes + arithmetic > std::get<0>(price_of(*best_));
  }

  void consider(const std::vector<Axes>& loops) {
    std::optional<LoopSplit> split = pricer_.priced(loops);
    if (!split) {
      return;
    }
    considered_.push_back({.loops = split->loops, .bytes = split->bytes});
    next_bytes_ = std::min(next_bytes_, std::max(least_bytes_, split->bytes));
    least_bytes_ = std::min(least_bytes_, split->bytes);
    if (!best_ || price_of(*split) < price_of(*best_)) {
      best_ = std::move(split);
    }
  }

  [[nodiscard]] Price price_of(const LoopSplit& split) const {
    return {static_cast<double>(split.bytes) +
                priced_arithmetic(problem_.call, problem_.space, split.volume),
            split.collectives, split.volume};
  }

  [[nodiscard]] std::size_t number(AxisId axis) const {
    return static_cast<std::size_t>(std::ranges::find(axes_, axis) - axes_.begin());
  }

  // ---- what else it could have been -----------------------------------------------------------

  // The next best of all, then for each axis the best that uses it otherwise.
  void find_otherwise() {
    best_->chosen = is_contested_;
    if (best_->bytes > 0 || is_contested_) {
      const LoopSplit best = *best_;
      for (std::size_t i = 0; i < axes_.size(); ++i) {
        consider_others(best, i);
      }
      best_ = best;
    }
    std::ranges::stable_sort(considered_, {}, &PricedLoops::bytes);
    std::erase_if(considered_, [this](const PricedLoops& c) { return c.loops == best_->loops; });
    if (is_contested_ && !considered_.empty()) {
      best_->otherwise.push_back(considered_.front());
    }
    best_->chosen = !best_->otherwise.empty();
    for (const AxisId axis : axes_) {
      const auto differs = [&](const PricedLoops& other) {
        return uses(other.loops, axis) != uses(best_->loops, axis);
      };
      if (best_->bytes == 0 || std::ranges::any_of(best_->otherwise, differs)) {
        continue;
      }
      const auto other = std::ranges::find_if(considered_, differs);
      if (other != considered_.end()) {
        best_->otherwise.push_back(*other);
      }
    }
  }

  // The best split with one axis on another loop that claimed it, or on none.
  void consider_others(const LoopSplit& best, std::size_t axis) {
    std::vector<LoopOf> others = claims_[axis];
    others.emplace_back(std::nullopt);
    for (const LoopOf other : others) {
      std::vector<Axes> loops = best.loops;
      if (other ? has(loops[*other], axes_[axis]) : uses(loops, axes_[axis]) == loops.size()) {
        continue;
      }
      for (Axes& axes : loops) {
        erase(axes, axes_[axis]);
      }
      if (other) {
        loops[*other].push_back(axes_[axis]);
      }
      if (!other || mesh_.splits(problem_.space.loops[*other].size, loops[*other])) {
        consider(loops);
      }
    }
  }

  // The loop that an axis splits, or none.
  static std::size_t uses(const std::vector<Axes>& loops, AxisId axis) {
    const auto split = [axis](const Axes& axes) { return has(axes, axis); };
    return static_cast<std::size_t>(std::ranges::find_if(loops, split) - loops.begin());
  }

  const SplitProblem& problem_;
  const Mesh& mesh_;
  SplitPricer pricer_;
  Axes axes_;                                 // in the order in which they first claimed a loop
  std::vector<std::vector<LoopOf>> claims_;   // per axis, what some tensor splits over it
  std::vector<std::vector<LoopOf>> may_;      // per axis, the loops to try
  std::size_t firm_ = 0;                      // axes that are settled: they take no further loops
  bool is_contested_ = false;                 // some axis is claimed by two loops
  std::vector<Axes> order_;                   // per loop, as its axes were first claimed
  std::vector<std::vector<Axes>> projected_;  // per tensor and loop, the axes that it has there
  std::vector<TensorBound> bounds_;           // operands, then the result
  std::vector<LoopOf> picked_;                // of the first axes, on the way
  std::vector<PricedLoops> considered_;
  std::int64_t least_bytes_ = std::numeric_limits<std::int64_t>::max();  // of those
  std::int64_t next_bytes_ = std::numeric_limits<std::int64_t>::max();   // of all but that one
  std::optional<LoopSplit> best_;
};

}  // namespace

LoopSplit choose_split(const SplitProblem& problem, Resharder& resharder, const Mesh& mesh) {
  return Chooser(problem, resharder, mesh).run();
}

}  // namespace mtf
