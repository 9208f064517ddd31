// A search over the axes, one after the other: each splits one of the loops that it may split, or
// none. What is sure to cost more than the best split so far is left out (split_bound.h); the first
// one that is priced gives each axis to the loop that claimed it first. Of more than some five axes
// there may be too many ways: then the best of the first ones is made better by moving axes that
// stand together from one loop to another, as long as that helps.

#include "lowering/partition/split/choose_split.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

#include "lowering/partition/split/split_bound.h"
#include "lowering/partition/split/split_claims.h"
#include "lowering/partition/split/split_price.h"

namespace mtf {
namespace {

// What is compared: bytes and priced arithmetic, collectives, axes that split it only because an
// operand was made so, volume.
using Price = std::tuple<double, std::int64_t, std::int64_t, double>;

class Chooser {
 public:
  Chooser(const SplitProblem& problem, Resharder& resharder, const Mesh& mesh)
      : problem_(problem),
        resharder_(resharder),
        mesh_(mesh),
        pricer_(problem, resharder, mesh),
        claimed_(claims_of(problem, mesh)) {
    find_bounds();
  }

  LoopSplit run() {
    search();
    if (!best_) {  // what is pinned cannot be split
      for (std::vector<LoopOf>& loops : claimed_.may) {
        loops.emplace_back(std::nullopt);
      }
      search();
    }
    return finished();
  }

  // requires: the loops may be split so.
  LoopSplit run_from(const std::vector<Axes>& loops) {
    consider(loops);
    improve();
    return finished();
  }

 private:
  LoopSplit finished() {
    if (!problem_.price_only) {
      find_otherwise();
    }
    resharder_.add_looks(looks_);
    return *best_;
  }

  // ---- search -------------------------------------------------------------------------------

  void find_bounds() {
    for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
      bounds_.emplace_back(problem_.call.operands[i], problem_.space.operands[i],
                           forms_of(problem_, i), problem_.space, mesh_,
                           !windows_of(problem_.space, i).empty());
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
    for (std::size_t i = 0; i < claimed_.axes.size(); ++i) {
      if (i >= picked_.size() || picked_[i]) {
        volume /= static_cast<double>(mesh_.axes[claimed_.axes[i]].size);
      }
    }
    double bytes = 0;
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
      if (i < problem_.same.size() && problem_.same[i] != i) {
        continue;  // it may be had already
      }
      bytes += i < problem_.operands.size() ? bounds_[i].operand(claimed_.axes, picked_)
                                            : bounds_[i].result(claimed_.axes, picked_);
    }
    constexpr double kRounding = 1e-9;  // products of fractions
    const double arithmetic = priced_arithmetic(problem_.call, problem_.space, volume);
    return {(bytes + arithmetic) * (1 - kRounding), bytes > kRounding ? 1 : 0, 0,
            volume * (1 - kRounding)};
  }

  void search() {
    left_ = kMostDecided;
    decide();
    if (left_ == 0) {
      improve();
    }
  }

  void improve() {
    for (const std::vector<Axes>& loops : claimed_.projected) {
      pick_as(loops);
    }
    const auto may_rest = [](const std::vector<LoopOf>& loops) {
      return std::ranges::find(loops, LoopOf()) != loops.end();
    };
    if (!best_ && std::ranges::all_of(claimed_.may, may_rest)) {
      pick_all(std::vector<LoopOf>(claimed_.axes.size()));
    }
    while (best_ && move_some()) {
    }
  }

  void decide() {
    if (left_ == 0 || (best_ && bound() >= price_of(*best_))) {
      return;
    }
    --left_;
    ++looks_;
    if (picked_.size() == claimed_.axes.size()) {
      consider_orders();
      return;
    }
    for (const LoopOf loop : claimed_.may[picked_.size()]) {
      picked_.push_back(loop);
      decide();
      picked_.pop_back();
    }
  }

  // Whether it is better to move some axes, that are the last of a loop or used by none, or one
  // axis alone.
  bool move_some() {
    const Price before = price_of(*best_);
    std::vector<Axes> groups = best_->loops;
    Axes& unused = groups.emplace_back();
    std::ranges::copy_if(claimed_.axes, std::back_inserter(unused), [this](AxisId axis) {
      return uses(best_->loops, axis) == best_->loops.size();
    });
    for (const Axes& group : groups) {
      for (std::size_t first = 0; first < group.size(); ++first) {
        move_to_each({group.begin() + static_cast<std::ptrdiff_t>(first), group.end()});
        if (first + 1 < group.size()) {
          move_to_each({group[first]});
        }
      }
    }
    return price_of(*best_) < before;
  }

  void move_to_each(const Axes& moved) {
    for (const LoopOf to : claimed_.may[claimed_.number(moved.front())]) {
      std::vector<LoopOf> picks;
      for (std::size_t i = 0; i < claimed_.axes.size(); ++i) {
        const std::size_t loop = uses(best_->loops, claimed_.axes[i]);
        const LoopOf now = loop < best_->loops.size() ? LoopOf(loop) : std::nullopt;
        const bool moves = has(moved, claimed_.axes[i]) &&
                           std::ranges::find(claimed_.may[i], to) != claimed_.may[i].end();
        picks.push_back(moves ? to : now);
      }
      pick_all(std::move(picks));
    }
  }

  // What one tensor has stays as it is; axes that it has not go where they are first claimed.
  void pick_as(const std::vector<Axes>& loops) {
    std::vector<LoopOf> picks;
    for (std::size_t i = 0; i < claimed_.axes.size(); ++i) {
      const LoopOf loop = uses(loops, claimed_.axes[i]);
      const std::vector<LoopOf>& may = claimed_.may[i];
      const bool fits = std::ranges::find(may, loop) != may.end();
      picks.push_back(fits ? loop : may.front());
    }
    pick_all(std::move(picks));
  }

  void pick_all(std::vector<LoopOf> picks) {
    picked_ = std::move(picks);
    if (!best_ || bound() < price_of(*best_)) {
      consider_orders();
    }
    picked_.clear();
  }

  // Every order of a loop's axes that some tensor has, or the loops were claimed in.
  void consider_orders() {
    std::vector<Axes> loops(claimed_.order.size());
    for (std::size_t l = 0; l < loops.size(); ++l) {
      for (const AxisId axis : claimed_.order[l]) {
        if (picked_[claimed_.number(axis)] == l) {
          loops[l].push_back(axis);
        }
      }
      for (std::size_t i = 0; i < claimed_.axes.size(); ++i) {  // of axes that did not claim it
        if (picked_[i] == l && !has(loops[l], claimed_.axes[i])) {
          loops[l].push_back(claimed_.axes[i]);
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
      const double most = most_bytes(loops);
      const std::optional<double> least = best_ ? pricer_.least_bytes(loops) : 0;
      if (least && *least <= most) {
        consider(loops, most);
      }
      return;
    }
    const Axes first = loops[loop];
    std::vector<Axes> orders = {first};
    for (const std::vector<Axes>& had : claimed_.projected) {
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

  // Of more bytes than this, the split is neither the best nor, if one asks, the next best of all.
  [[nodiscard]] double most_bytes(const std::vector<Axes>& loops) const {
    if (!best_) {
      return std::numeric_limits<double>::max();
    }
    const double arithmetic =
        priced_arithmetic(problem_.call, problem_.space, pricer_.volume_of(loops));
    const double most = std::get<0>(price_of(*best_)) - arithmetic;
    return problem_.price_only ? most : std::max(most, static_cast<double>(next_bytes_) - 1);
  }

  void consider(const std::vector<Axes>& loops, double most = std::numeric_limits<double>::max()) {
    left_ = std::max(left_ - kToPrice, 0);
    looks_ += kToPrice;
    std::optional<LoopSplit> split = pricer_.priced(loops, most);
    if (!split) {
      return;
    }
    considered_.push_back({.loops = split->loops,
                           .bytes = split->bytes,
                           .work = split->volume,
                           .collectives = split->collectives});
    next_bytes_ = std::min(next_bytes_, std::max(least_bytes_, split->bytes));
    least_bytes_ = std::min(least_bytes_, split->bytes);
    if (!best_ || price_of(*split) < price_of(*best_)) {
      best_ = std::move(split);
    }
  }

  [[nodiscard]] Price price_of(const LoopSplit& split) const {
    return {static_cast<double>(split.bytes) +
                priced_arithmetic(problem_.call, problem_.space, split.volume),
            split.collectives, made_so(split.loops), split.volume};
  }

  // What is kept has to move to where it rests; what is not may go on as it is.
  [[nodiscard]] std::int64_t made_so(const std::vector<Axes>& loops) const {
    if (!problem_.is_kept) {
      return 0;
    }
    return std::count_if(claimed_.axes.begin() + static_cast<std::ptrdiff_t>(claimed_.resting),
                         claimed_.axes.end(),
                         [&loops](AxisId axis) { return uses(loops, axis) < loops.size(); });
  }

  // ---- what else it could have been -----------------------------------------------------------

  // The next best of all, then for each axis the best that uses it otherwise.
  void find_otherwise() {
    best_->chosen = claimed_.is_contested;
    if (best_->bytes > 0 || claimed_.is_contested) {
      const LoopSplit best = *best_;
      for (std::size_t i = 0; i < claimed_.axes.size(); ++i) {
        consider_others(best, i);
      }
      best_ = best;
    }
    std::ranges::stable_sort(considered_, {}, &PricedLoops::bytes);
    std::erase_if(considered_, [this](const PricedLoops& c) { return c.loops == best_->loops; });
    for (PricedLoops& other : considered_) {
      other.work /= best_->volume;
      other.collectives -= best_->collectives;
      other.idle = left_idle(other.loops);
    }
    if (claimed_.is_contested && !considered_.empty()) {
      best_->otherwise.push_back(considered_.front());
    }
    best_->chosen = !best_->otherwise.empty();
    for (const AxisId axis : claimed_.axes) {
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
    std::vector<LoopOf> others = claimed_.claims[axis];
    others.emplace_back(std::nullopt);
    for (const LoopOf other : others) {
      std::vector<Axes> loops = best.loops;
      if (other ? has(loops[*other], claimed_.axes[axis])
                : uses(loops, claimed_.axes[axis]) == loops.size()) {
        continue;
      }
      for (Axes& axes : loops) {
        erase(axes, claimed_.axes[axis]);
      }
      if (other) {
        loops[*other].push_back(claimed_.axes[axis]);
      }
      if (!other || mesh_.splits(problem_.space.loops[*other].size, loops[*other])) {
        consider(loops);
      }
    }
  }

  // Axes of the best split that no other one may do without.
  [[nodiscard]] Axes left_idle(const std::vector<Axes>& loops) const {
    Axes idle;
    for (std::size_t i = 0; i < claimed_.axes.size(); ++i) {
      const std::vector<LoopOf>& may = claimed_.may[i];
      if (uses(loops, claimed_.axes[i]) == loops.size() &&
          std::ranges::find(may, LoopOf()) == may.end()) {
        idle.push_back(claimed_.axes[i]);
      }
    }
    return idle;
  }

  // The loop that an axis splits, or none.
  static std::size_t uses(const std::vector<Axes>& loops, AxisId axis) {
    const auto split = [axis](const Axes& axes) { return has(axes, axis); };
    return static_cast<std::size_t>(std::ranges::find_if(loops, split) - loops.begin());
  }

  const SplitProblem& problem_;
  Resharder& resharder_;
  const Mesh& mesh_;
  SplitPricer pricer_;
  LoopClaims claimed_;                       // the layouts of operands and result
  std::vector<TensorBound> bounds_;          // operands, then the result
  static constexpr int kMostDecided = 2048;  // on all ways together; of five axes, some 1,500
  static constexpr int kToPrice = 4;         // a split takes as long as so many decisions
  int left_ = 0;                             // of these
  std::int64_t looks_ = 0;                   // decisions, and what prices take
  std::vector<LoopOf> picked_;               // of the first axes, on the way
  std::vector<PricedLoops> considered_;      // with their own work and collectives, at first
  std::int64_t least_bytes_ = std::numeric_limits<std::int64_t>::max();  // of those
  std::int64_t next_bytes_ = std::numeric_limits<std::int64_t>::max();   // of all but that one
  std::optional<LoopSplit> best_;
};

}  // namespace

LoopSplit choose_by_axes(const SplitProblem& problem, Resharder& resharder, const Mesh& mesh) {
  return Chooser(problem, resharder, mesh).run();
}

LoopSplit improved_by_axes(const SplitProblem& problem, Resharder& resharder, const Mesh& mesh,
                           const std::vector<Axes>& loops) {
  return Chooser(problem, resharder, mesh).run_from(loops);
}

}  // namespace mtf
