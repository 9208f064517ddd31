#include "lowering/reshard.h"

#include <algorithm>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "lowering/finish.h"
#include "lowering/holders.h"

namespace mtf {
namespace {

using Dims = std::vector<Axes>;

// A layout without pending sums, in its normal spelling.
struct State {
  Dims dims;
  std::vector<Condition> where;

  friend auto operator<=>(const State&, const State&) = default;
};

State state_of(const ValueLayout& layout) {
  ValueLayout spelled = normal(layout);
  return {.dims = std::move(spelled.dims), .where = std::move(spelled.where)};
}

ValueLayout layout_of(const State& state) {
  return {.dims = state.dims, .partial = {}, .where = state.where};
}

// The search from one layout to another of one shape.
class Search {
 public:
  Search(const Shape& shape, const Mesh& mesh, State target)
      : shape_(shape), mesh_(mesh), target_(std::move(target)) {
    for (const Axes& axes : target_.dims) {
      wanted_.insert(axes.begin(), axes.end());
    }
    for (const Condition& condition : target_.where) {
      if (condition.same) {  // on the way it may split the dim as well
        wanted_.insert(condition.axis);
      }
    }
  }

  std::vector<Move> run(const State& start) {
    reach(start, {0, 0}, nullptr, {});
    while (!queue_.empty()) {
      const auto [cost, state] = queue_.top();
      queue_.pop();
      if (state == target_) {
        return path_to(state);
      }
      if (cost == seen_.at(state).cost) {
        expand(state, cost);
      }
    }
    return {};
  }

 private:
  using Cost = std::pair<std::int64_t, std::int64_t>;  // received elements, then steps

  struct Node {
    Cost cost;
    State from;
    Move move;
    bool start = false;
  };

  [[nodiscard]] std::int64_t local_volume(const Dims& dims) const {
    std::int64_t volume = 1;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      volume *= mesh_.longest_part(shape_[d].size, dims[d]);
    }
    return volume;
  }

  void reach(const State& to, Cost cost, const State* from, Move move) {
    const auto found = seen_.find(to);
    if (found != seen_.end() && found->second.cost <= cost) {
      return;
    }
    seen_[to] = {.cost = cost,
                 .from = from == nullptr ? State{} : *from,
                 .move = std::move(move),
                 .start = from == nullptr};
    queue_.emplace(cost, to);
  }

  void step(const State& from, Cost cost, StepKind kind, Axes axes, const State& to) {
    const std::int64_t received =
        volume_of(kind, local_volume(from.dims), mesh_.size_of(axes)).received;
    const Cost next{cost.first + received, cost.second + 1};
    reach(to, next, &from, {.kind = kind, .to = layout_of(to), .axes = std::move(axes)});
  }

  [[nodiscard]] bool divides(std::size_t dim, const Axes& present, std::int64_t ways) const {
    return mesh_.uneven || shape_[dim].size % (mesh_.size_of(present) * ways) == 0;
  }

  void expand(const State& state, Cost cost) {
    std::set<AxisId> used;
    for (const Axes& axes : state.dims) {
      used.insert(axes.begin(), axes.end());
    }
    for (const Condition& condition : state.where) {
      used.insert(condition.axis);
    }
    slices(state, cost, used);
    drops(state, cost, used);
    broadcasts(state, cost);
    for (std::size_t d = 0; d < state.dims.size(); ++d) {
      for (std::size_t keep = 0; keep < state.dims[d].size(); ++keep) {
        suffix_moves(state, cost, d, keep);
      }
    }
    if (state.where.empty()) {
      permutes(state.dims, cost, used);
    }
  }

  void slices(const State& state, Cost cost, const std::set<AxisId>& used) {
    for (const AxisId axis : wanted_) {
      if (used.contains(axis)) {
        continue;
      }
      for (std::size_t d = 0; d < state.dims.size(); ++d) {
        if (divides(d, state.dims[d], mesh_.axes[axis].size)) {
          State to = state;
          to.dims[d].push_back(axis);
          step(state, cost, StepKind::kSlice, {axis}, to);
        }
      }
    }
  }

  // Ranks let go of what the target does not want them to hold. On a diagonal the axis that splits
  // the dim here may be another than in the target's spelling.
  void drops(const State& state, Cost cost, const std::set<AxisId>& used) {
    for (const Condition& condition : target_.where) {
      Condition wanted = condition;
      if (condition.same && used.contains(condition.axis)) {
        wanted = {.axis = *condition.same, .same = condition.axis};
      }
      const bool possible =
          !used.contains(wanted.axis) && (!wanted.same || splits(state, *wanted.same));
      if (possible) {
        ValueLayout to = layout_of(state);
        to.where.push_back(wanted);
        std::ranges::sort(to.where);
        step(state, cost, StepKind::kSlice, {wanted.axis}, state_of(to));
      }
    }
  }

  static bool splits(const State& state, AxisId axis) {
    return std::ranges::any_of(state.dims, [axis](const Axes& axes) { return has(axes, axis); });
  }

  void broadcasts(const State& state, Cost cost) {
    std::set<AxisId> axes;
    for (const Condition& condition : state.where) {
      axes.insert(condition.axis);
      if (condition.same) {
        axes.insert(*condition.same);
      }
    }
    for (const AxisId axis : axes) {
      step(state, cost, StepKind::kBroadcast, {axis},
           state_of(spread_over(layout_of(state), axis)));
    }
  }

  // Takes the axes behind the first `keep` off dim d: gathered, or moved to another dim. Blocks
  // that lie on a diagonal are not all in one group.
  void suffix_moves(const State& state, Cost cost, std::size_t d, std::size_t keep) {
    const Axes& axes = state.dims[d];
    const Axes suffix(axes.begin() + static_cast<std::ptrdiff_t>(keep), axes.end());
    const ValueLayout layout = layout_of(state);
    if (std::ranges::any_of(suffix, [&](AxisId axis) { return is_compared(layout, axis); })) {
      return;
    }
    State gathered = state;
    gathered.dims[d].resize(keep);
    step(state, cost, StepKind::kAllGather, suffix, gathered);
    for (std::size_t e = 0; e < state.dims.size(); ++e) {
      if (e != d && divides(e, state.dims[e], mesh_.size_of(suffix))) {
        State to = gathered;
        to.dims[e].insert(to.dims[e].end(), suffix.begin(), suffix.end());
        step(state, cost, StepKind::kAllToAll, suffix, to);
      }
    }
  }

  // Another owner for the same local shape: towards the target, dim by dim as it wants them.
  void permutes(const Dims& dims, Cost cost, const std::set<AxisId>& used) {
    std::set<AxisId> pool = used;
    pool.insert(wanted_.begin(), wanted_.end());
    Dims to(dims.size());
    place(dims, cost, 0, pool, to);
  }

  // Fills dim d and those behind it with every ordered choice of axes of the same total size.
  void place(const Dims& dims, Cost cost, std::size_t d, const std::set<AxisId>& pool, Dims& to) {
    if (d == dims.size()) {
      if (to != dims && same_blocks(dims, to)) {
        step({.dims = dims, .where = {}}, cost, StepKind::kPermute, moved_axes(dims, to),
             {.dims = to, .where = {}});
      }
      return;
    }
    const std::int64_t ways = mesh_.size_of(dims[d]);
    fill(dims, cost, d, pool, ways, to);
  }

  void fill(const Dims& dims, Cost cost, std::size_t d, const std::set<AxisId>& pool,
            std::int64_t ways, Dims& to) {
    if (ways == 1) {
      place(dims, cost, d + 1, pool, to);
      return;
    }
    for (const AxisId axis : pool) {
      const std::int64_t size = mesh_.axes[axis].size;
      if (size > 1 && ways % size == 0) {
        std::set<AxisId> rest = pool;
        rest.erase(axis);
        to[d].push_back(axis);
        fill(dims, cost, d, rest, ways / size, to);
        to[d].pop_back();
      }
    }
  }

  // Uneven blocks are others when other axes cut them.
  [[nodiscard]] bool same_blocks(const Dims& a, const Dims& b) const {
    for (std::size_t d = 0; d < a.size(); ++d) {
      if (a[d] != b[d] && shape_[d].size % mesh_.size_of(a[d]) != 0) {
        return false;
      }
    }
    return true;
  }

  static Axes moved_axes(const Dims& from, const Dims& to) {
    std::set<AxisId> axes;
    for (std::size_t d = 0; d < from.size(); ++d) {
      if (from[d] != to[d]) {
        axes.insert(from[d].begin(), from[d].end());
        axes.insert(to[d].begin(), to[d].end());
      }
    }
    return {axes.begin(), axes.end()};
  }

  std::vector<Move> path_to(const State& state) {
    std::vector<Move> path;
    for (const Node* node = &seen_.at(state); !node->start; node = &seen_.at(node->from)) {
      path.push_back(node->move);
    }
    std::ranges::reverse(path);
    return path;
  }

  struct Later {
    bool operator()(const std::pair<Cost, State>& a, const std::pair<Cost, State>& b) const {
      return a > b;
    }
  };

  const Shape& shape_;
  const Mesh& mesh_;
  State target_;
  std::set<AxisId> wanted_;
  std::map<State, Node> seen_;
  std::priority_queue<std::pair<Cost, State>, std::vector<std::pair<Cost, State>>, Later> queue_;
};

// Neighbouring moves of one kind that one step can do: slices, all-gathers and broadcasts.
std::vector<Move> merged(std::vector<Move> moves) {
  std::vector<Move> result;
  for (Move& move : moves) {
    const bool joins = !result.empty() && result.back().kind == move.kind &&
                       (move.kind == StepKind::kSlice || move.kind == StepKind::kAllGather ||
                        move.kind == StepKind::kBroadcast);
    if (!joins) {
      result.push_back(std::move(move));
      continue;
    }
    result.back().to = move.to;
    result.back().axes.insert(result.back().axes.end(), move.axes.begin(), move.axes.end());
  }
  for (Move& move : result) {
    std::ranges::sort(move.axes);
  }
  return result;
}

std::vector<std::int64_t> key_of(const Shape& shape, const ValueLayout& from,
                                 const ValueLayout& to) {
  std::vector<std::int64_t> key;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    key.push_back(shape[d].size);
    key.insert(key.end(), from.dims[d].begin(), from.dims[d].end());
    key.push_back(-1);
    key.insert(key.end(), to.dims[d].begin(), to.dims[d].end());
    key.push_back(-2);
  }
  key.insert(key.end(), from.partial.begin(), from.partial.end());
  for (const ValueLayout* layout : {&from, &to}) {
    key.push_back(-3);
    for (const Condition& condition : layout->where) {
      key.insert(key.end(), {condition.axis, condition.same ? *condition.same : -1, condition.at});
    }
  }
  return key;
}

}  // namespace

Volume volume_of(StepKind kind, std::int64_t local, std::int64_t ranks) {
  switch (kind) {
    case StepKind::kKernel:
    case StepKind::kSlice:
      break;
    case StepKind::kAllGather:
      return {local, local * (ranks - 1)};
    case StepKind::kAllToAll:
    case StepKind::kReduceScatter:
      return {local, local / ranks * (ranks - 1)};
    case StepKind::kPermute:
    case StepKind::kBroadcast:
    case StepKind::kReduce:  // by a rank that the others' terms pass through, and by its holder
      return {local, local};
    case StepKind::kAllReduce:
      return {local, 2 * local * (ranks - 1) / ranks};
  }
  return {local, 0};
}

std::int64_t Resharder::local_volume(const Shape& shape, const ValueLayout& layout) const {
  std::int64_t volume = 1;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    volume *= mesh_.longest_part(shape[d].size, layout.dims[d]);
  }
  return volume;
}

const Resharder::Planned& Resharder::planned(const Shape& shape, const ValueLayout& from,
                                             const ValueLayout& to) {
  auto [entry, fresh] = cache_.try_emplace(key_of(shape, from, to));
  if (!fresh) {
    return entry->second;
  }
  ValueLayout layout = from;
  std::vector<Move> moves = finish(layout, to);
  for (Move& move : merged(Search(shape, mesh_, state_of(to)).run(state_of(layout)))) {
    moves.push_back(std::move(move));
  }
  if (!moves.empty()) {
    moves.back().to = to;
  } else if (from != to) {  // another spelling of the same slices
    moves.push_back({.kind = StepKind::kSlice, .to = to, .axes = {}});
  }
  std::int64_t received = 0;
  const ValueLayout* at = &from;
  for (const Move& move : moves) {
    received += volume_of(move.kind, local_volume(shape, *at), mesh_.size_of(move.axes)).received;
    at = &move.to;
  }
  entry->second = {.moves = std::move(moves), .received = received};
  return entry->second;
}

const std::vector<Move>& Resharder::plan(const Shape& shape, const ValueLayout& from,
                                         const ValueLayout& to) {
  return planned(shape, from, to).moves;
}

std::int64_t Resharder::received(const Shape& shape, const ValueLayout& from,
                                 const ValueLayout& to) {
  return from == to ? 0 : planned(shape, from, to).received;
}

}  // namespace mtf
