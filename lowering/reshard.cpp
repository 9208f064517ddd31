#include "lowering/reshard.h"

#include <algorithm>
#include <queue>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace mtf {
namespace {

using Dims = std::vector<Axes>;  // a layout without pending sums

// The search from one layout to another of one shape.
class Search {
 public:
  Search(const Shape& shape, const Mesh& mesh, const Dims& target)
      : shape_(shape), mesh_(mesh), target_(target) {
    for (const Axes& axes : target) {
      wanted_.insert(axes.begin(), axes.end());
    }
  }

  std::vector<Move> run(const Dims& start) {
    reach(start, {0, 0}, nullptr, {});
    while (!queue_.empty()) {
      const auto [cost, dims] = queue_.top();
      queue_.pop();
      if (dims == target_) {
        return path_to(dims);
      }
      if (cost == seen_.at(dims).cost) {
        expand(dims, cost);
      }
    }
    return {};
  }

 private:
  using Cost = std::pair<std::int64_t, std::int64_t>;  // received elements, then steps

  struct Node {
    Cost cost;
    Dims from;
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

  void reach(const Dims& to, Cost cost, const Dims* from, Move move) {
    const auto found = seen_.find(to);
    if (found != seen_.end() && found->second.cost <= cost) {
      return;
    }
    seen_[to] = {.cost = cost,
                 .from = from == nullptr ? Dims{} : *from,
                 .move = std::move(move),
                 .start = from == nullptr};
    queue_.emplace(cost, to);
  }

  void step(const Dims& from, Cost cost, StepKind kind, Axes axes, const Dims& to) {
    const std::int64_t received = volume_of(kind, local_volume(from), mesh_.size_of(axes)).received;
    const Cost next{cost.first + received, cost.second + 1};
    ValueLayout layout{.dims = to, .partial = {}};
    reach(to, next, &from, {.kind = kind, .to = std::move(layout), .axes = std::move(axes)});
  }

  [[nodiscard]] bool divides(std::size_t dim, const Axes& present, std::int64_t ways) const {
    return mesh_.uneven || shape_[dim].size % (mesh_.size_of(present) * ways) == 0;
  }

  void expand(const Dims& dims, Cost cost) {
    std::set<AxisId> used;
    for (const Axes& axes : dims) {
      used.insert(axes.begin(), axes.end());
    }
    slices(dims, cost, used);
    for (std::size_t d = 0; d < dims.size(); ++d) {
      for (std::size_t keep = 0; keep < dims[d].size(); ++keep) {
        suffix_moves(dims, cost, d, keep);
      }
    }
    permutes(dims, cost, used);
  }

  void slices(const Dims& dims, Cost cost, const std::set<AxisId>& used) {
    for (const AxisId axis : wanted_) {
      if (used.contains(axis)) {
        continue;
      }
      for (std::size_t d = 0; d < dims.size(); ++d) {
        if (divides(d, dims[d], mesh_.axes[axis].size)) {
          Dims to = dims;
          to[d].push_back(axis);
          step(dims, cost, StepKind::kSlice, {axis}, to);
        }
      }
    }
  }

  // Takes the axes behind the first `keep` off dim d: gathered, or moved to another dim.
  void suffix_moves(const Dims& dims, Cost cost, std::size_t d, std::size_t keep) {
    const Axes suffix(dims[d].begin() + static_cast<std::ptrdiff_t>(keep), dims[d].end());
    Dims gathered = dims;
    gathered[d].resize(keep);
    step(dims, cost, StepKind::kAllGather, suffix, gathered);
    for (std::size_t e = 0; e < dims.size(); ++e) {
      if (e != d && divides(e, dims[e], mesh_.size_of(suffix))) {
        Dims to = gathered;
        to[e].insert(to[e].end(), suffix.begin(), suffix.end());
        step(dims, cost, StepKind::kAllToAll, suffix, to);
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
        step(dims, cost, StepKind::kPermute, moved_axes(dims, to), to);
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

  std::vector<Move> path_to(const Dims& dims) {
    std::vector<Move> path;
    for (const Node* node = &seen_.at(dims); !node->start; node = &seen_.at(node->from)) {
      path.push_back(node->move);
    }
    std::ranges::reverse(path);
    return path;
  }

  struct Later {
    bool operator()(const std::pair<Cost, Dims>& a, const std::pair<Cost, Dims>& b) const {
      return a > b;
    }
  };

  const Shape& shape_;
  const Mesh& mesh_;
  const Dims& target_;
  std::set<AxisId> wanted_;
  std::map<Dims, Node> seen_;
  std::priority_queue<std::pair<Cost, Dims>, std::vector<std::pair<Cost, Dims>>, Later> queue_;
};

// Neighbouring moves of one kind that one step can do: slices, and all-gathers.
std::vector<Move> merged(std::vector<Move> moves) {
  std::vector<Move> result;
  for (Move& move : moves) {
    const bool joins = !result.empty() && result.back().kind == move.kind &&
                       (move.kind == StepKind::kSlice || move.kind == StepKind::kAllGather);
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

// The dim of `to` that wants just these axes, in any order, right behind what `dims` has there.
std::optional<std::size_t> scatter_dim(const Dims& dims, const Dims& to,
                                       std::span<const AxisId> axes) {
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const Axes& have = dims[d];
    if (have.size() + axes.size() <= to[d].size() &&
        std::equal(have.begin(), have.end(), to[d].begin()) &&
        std::is_permutation(axes.begin(), axes.end(),
                            to[d].begin() + static_cast<std::ptrdiff_t>(have.size()))) {
      return d;
    }
  }
  return std::nullopt;
}

// The longest run of innermost pending axes that one dim of the target wants, and that dim.
std::pair<std::size_t, std::optional<std::size_t>> longest_scatter(const ValueLayout& layout,
                                                                   const ValueLayout& to) {
  for (std::size_t length = layout.partial.size(); length > 0; --length) {
    const auto run = std::span(layout.partial).last(length);
    if (const auto dim = scatter_dim(layout.dims, to.dims, run)) {
      return {length, dim};
    }
  }
  return {1, std::nullopt};
}

// Finishes the pending sums of `layout`, innermost axes first as the canonical tree adds
// (exact.md); neighbouring axes of one kind become one collective.
std::vector<Move> finish(ValueLayout& layout, const ValueLayout& to) {
  std::vector<Move> moves;
  while (!layout.partial.empty()) {
    const auto [length, dim] = longest_scatter(layout, to);
    const auto first = layout.partial.end() - static_cast<std::ptrdiff_t>(length);
    const Axes axes(first, layout.partial.end());
    layout.partial.erase(first, layout.partial.end());
    const StepKind kind = dim ? StepKind::kReduceScatter : StepKind::kAllReduce;
    if (dim) {
      layout.dims[*dim].insert(layout.dims[*dim].end(), axes.begin(), axes.end());
    }
    if (!dim && !moves.empty() && moves.back().kind == kind) {
      moves.back().axes.insert(moves.back().axes.begin(), axes.begin(), axes.end());
      moves.back().to = layout;
    } else {
      moves.push_back({.kind = kind, .to = layout, .axes = axes});
    }
  }
  return moves;
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
  for (Move& move : merged(Search(shape, mesh_, to.dims).run(layout.dims))) {
    moves.push_back(std::move(move));
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
