#include "tests/unit/lowering/reshard/exhaustive.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

namespace mtf::tests {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;

bool begins(const Axes& a, const Axes& b) {
  return a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace

Exhaustive::Exhaustive(Shape shape, const Mesh& mesh, Along along)
    : shape_(std::move(shape)), mesh_(mesh), along_(along) {
  std::vector<Axes> dims(shape_.rank());
  add_layouts(dims);
  for (const std::vector<Axes>& layout : layouts_) {
    std::int64_t volume = shape_.volume();
    for (const Axes& axes : layout) {
      volume /= mesh_.size_of(axes);
    }
    volumes_.push_back(volume);
  }
  for (std::size_t a = 0; a < layouts_.size(); ++a) {
    steps_.emplace_back();
    for (std::size_t b = 0; b < layouts_.size(); ++b) {
      steps_.back().push_back(step(a, b));
    }
  }
}

void Exhaustive::add_layouts(std::vector<Axes>& dims) {
  if (!number_.try_emplace(dims, layouts_.size()).second) {
    return;
  }
  layouts_.push_back(dims);
  for (std::size_t a = 0; a < mesh_.axes.size(); ++a) {
    const auto axis = static_cast<AxisId>(a);
    const auto splits = [axis](const Axes& axes) { return has(axes, axis); };
    if (std::ranges::any_of(dims, splits)) {
      continue;
    }
    for (std::size_t d = 0; d < dims.size(); ++d) {
      dims[d].push_back(axis);
      if (shape_[d].size % mesh_.size_of(dims[d]) == 0) {
        add_layouts(dims);
      }
      dims[d].pop_back();
    }
  }
}

// What a rank receives where every dim loses axes at its minor end or takes some on; or a permute.
std::int64_t Exhaustive::step(std::size_t from, std::size_t to) const {
  std::int64_t lost = 1;
  bool is_exchange = true;
  bool is_permute = true;
  for (std::size_t d = 0; d < shape_.rank(); ++d) {
    const Axes& a = layouts_[from][d];
    const Axes& b = layouts_[to][d];
    is_permute = is_permute && mesh_.size_of(a) == mesh_.size_of(b);
    if (begins(b, a)) {
      lost *= mesh_.size_of(a) / mesh_.size_of(b);
    } else {
      is_exchange = is_exchange && begins(a, b);
    }
  }
  if (is_exchange) {
    return volume(to) / lost * (lost - 1);
  }
  return is_permute ? volume(from) : -1;
}

// What a rank receives where dims take on all axes of the sum, and others.
std::int64_t Exhaustive::scatter(std::size_t from, std::size_t to, const Axes& run) const {
  std::size_t landed = 0;
  for (std::size_t d = 0; d < shape_.rank(); ++d) {
    const Axes& a = layouts_[from][d];
    const Axes& b = layouts_[to][d];
    if (!begins(a, b)) {
      return -1;
    }
    landed += static_cast<std::size_t>(
        std::count_if(b.begin() + static_cast<std::ptrdiff_t>(a.size()), b.end(),
                      [&run](AxisId axis) { return has(run, axis); }));
  }
  return landed == run.size() ? volume(to) * (mesh_.size_of(run) - 1) : -1;
}

bool Exhaustive::avoids(std::size_t layout, const Axes& axes) const {
  return std::ranges::none_of(layouts_[layout], [&axes](const Axes& of_dim) {
    return std::ranges::any_of(of_dim, [&axes](AxisId axis) { return has(axes, axis); });
  });
}

// Dijkstra, backwards.
void Exhaustive::relax(Costs& costs, const Axes& closed) const {
  std::vector<char> done(costs.size(), 0);
  for (std::size_t round = 0; round < costs.size(); ++round) {
    std::size_t next = costs.size();
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (done[i] == 0 && costs[i] < kNever && (next == costs.size() || costs[i] < costs[next])) {
        next = i;
      }
    }
    if (next == costs.size()) {
      return;
    }
    done[next] = 1;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (steps_[i][next] >= 0 && avoids(i, closed)) {
        costs[i] = std::min(costs[i], steps_[i][next] + costs[next]);
      }
    }
  }
}

const Exhaustive::Costs& Exhaustive::to_target(const Axes& partial, const Axes& idle,
                                               std::size_t target) {
  if (const auto found = known_.find({partial, idle, target}); found != known_.end()) {
    return found->second;
  }
  Axes closed = partial;
  closed.insert(closed.end(), idle.begin(), idle.end());
  Costs costs(layouts_.size(), kNever);
  if (partial.empty()) {
    costs[target] = 0;
  }
  for (std::size_t length = 1; length <= partial.size(); ++length) {  // innermost levels first
    const auto split = partial.end() - static_cast<std::ptrdiff_t>(length);
    const Axes run(split, partial.end());
    const std::int64_t ranks = mesh_.size_of(run);
    const Costs& after = to_target(Axes(partial.begin(), split), idle, target);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (!avoids(i, closed)) {
        continue;
      }
      costs[i] = std::min(costs[i], 2 * volume(i) * (ranks - 1) / ranks + after[i]);
      for (std::size_t j = 0; j < costs.size(); ++j) {
        if (const std::int64_t scattered = scatter(i, j, run); scattered >= 0) {
          costs[i] = std::min(costs[i], scattered + after[j]);
        }
      }
    }
  }
  relax(costs, closed);
  return known_.emplace(std::tuple{partial, idle, target}, std::move(costs)).first->second;
}

std::int64_t Exhaustive::received(const ValueLayout& from, const ValueLayout& to) {
  Axes idle;
  for (std::size_t a = 0; a < mesh_.axes.size(); ++a) {
    const auto axis = static_cast<AxisId>(a);
    if (along_ == Along::kNamed && !from.uses(axis) && !to.uses(axis)) {
      idle.push_back(axis);
    }
  }
  return to_target(from.partial, idle, number_.at(to.dims))[number_.at(from.dims)];
}

namespace {

class Splits {
 public:
  Splits(const SplitProblem& problem, const Axes& axes, const Mesh& mesh,
         std::vector<Exhaustive>& tensors)
      : problem_(problem),
        axes_(axes),
        mesh_(mesh),
        tensors_(tensors),
        loops_(problem.space.loops.size()) {}

  Cheapest run() {
    place(0);
    return *best_;
  }

 private:
  // Of several summed loops only the outermost may be split without changing bits
  // (runtime/EXACT.md): others are no choice of the planner's, only of a layout's.
  [[nodiscard]] bool may_split(AxisId axis, std::size_t loop) const {
    const IterationSpace& space = problem_.space;
    if (space.loops[loop].role != DimRole::kReduced ||
        std::ranges::count(space.loops, DimRole::kReduced, &LoopDim::role) == 1) {
      return true;
    }
    for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
      if (has(project(space.operands[i], problem_.operands[i], space, mesh_)[loop], axis)) {
        return true;
      }
    }
    return false;
  }

  // The loop that all tensors which have its dim split over the axis, where nothing else is split
  // over it: the contract leaves no choice then.
  [[nodiscard]] std::optional<std::size_t> agreed(AxisId axis) const {
    const IterationSpace& space = problem_.space;
    std::vector<const DimMap*> maps = {&space.result};
    std::vector<const ValueLayout*> layouts = {&problem_.result};
    for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
      maps.push_back(&space.operands[i]);
      layouts.push_back(&problem_.operands[i]);
    }
    std::optional<std::size_t> split;
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      std::size_t with = 0;
      std::size_t without = 0;
      for (std::size_t t = 0; t < maps.size(); ++t) {
        const auto over = [l](const std::vector<std::size_t>& loops) { return loops.front() == l; };
        const auto dim = std::ranges::find_if(*maps[t], over);
        if (dim != maps[t]->end()) {
          const auto d = static_cast<std::size_t>(dim - maps[t]->begin());
          ++(has(layouts[t]->dims[d], axis) ? with : without);
        }
      }
      if (with > 0 && (without > 0 || split)) {
        return std::nullopt;
      }
      split = with > 0 ? l : split;
    }
    return split;
  }

  // One axis after the other, at every place of every loop.
  void place(std::size_t number) {
    if (number == axes_.size()) {
      price();
      return;
    }
    const std::optional<std::size_t> only = agreed(axes_[number]);
    if (!only) {
      place(number + 1);
    }
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      if (only && only != l) {
        continue;
      }
      for (std::size_t at = 0; at <= loops_[l].size(); ++at) {
        loops_[l].insert(loops_[l].begin() + static_cast<std::ptrdiff_t>(at), axes_[number]);
        if (may_split(axes_[number], l) &&
            problem_.space.loops[l].size % mesh_.size_of(loops_[l]) == 0) {
          place(number + 1);
        }
        loops_[l].erase(loops_[l].begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
  }

  void price() {
    const IterationSpace& space = problem_.space;
    double volume = 1;
    ValueLayout made = *layout_from_loops(space.result, loops_, space, mesh_);
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      volume *= static_cast<double>(space.loops[l].size / mesh_.size_of(loops_[l]));
      if (space.loops[l].role == DimRole::kReduced) {
        made.partial.insert(made.partial.end(), loops_[l].begin(), loops_[l].end());
      }
    }
    std::int64_t bytes = 0;
    std::vector<ValueLayout> had;
    for (std::size_t i = 0; i < problem_.operands.size(); ++i) {
      const ValueLayout needed = *layout_from_loops(space.operands[i], loops_, space, mesh_);
      const bool is_again = !problem_.same.empty() && problem_.same[i] != i &&
                            std::ranges::find(had, needed) != had.end();  // of one value
      bytes += is_again ? 0 : 4 * tensors_[i].received(problem_.operands[i], needed);
      had.push_back(needed);
    }
    bytes += 4 * tensors_.back().received(made, problem_.result);
    const double price =
        static_cast<double>(bytes) + priced_arithmetic(problem_.call, space, volume);
    if (!best_ || price < best_->price) {
      best_ = {.price = price, .bytes = bytes, .loops = loops_};
    }
  }

  const SplitProblem& problem_;
  const Axes& axes_;
  const Mesh& mesh_;
  std::vector<Exhaustive>& tensors_;
  std::vector<Axes> loops_;
  std::optional<Cheapest> best_;
};

}  // namespace

Cheapest cheapest_split(const SplitProblem& problem, const Axes& axes, const Mesh& mesh,
                        std::vector<Exhaustive>& tensors) {
  return Splits(problem, axes, mesh, tensors).run();
}

}  // namespace mtf::tests
