// A rank needs all of its slice of the target that its own slice does not cover; where some dim
// changes its axes for others, some rank has nothing of it. Of a pending sum over n ranks every
// element takes n - 1 receptions to add up, and one by each other rank that is to have it. Both
// bounds are consistent: no step lowers them by more than what it receives.

#include "lowering/reshard_search.h"

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "lowering/holders.h"
#include "lowering/reshard_moves.h"

namespace mtf {
namespace {

// What is sure to be received.
class Bound {
 public:
  Bound(const Shape& shape, const Mesh& mesh, const ValueLayout& from, const ValueLayout& to)
      : shape_(shape),
        mesh_(mesh),
        to_(to),
        after_(local_elements(shape, mesh, to.dims)),
        even_(!mesh.uneven && from.where.empty() && to.where.empty()) {
    Axes axes = from.partial;
    for (const ValueLayout* layout : {&from, &to}) {
      for (const Axes& of_dim : layout->dims) {
        for (const AxisId axis : of_dim) {
          if (!has(axes, axis)) {
            axes.push_back(axis);
          }
        }
      }
    }
    ranks_ = static_cast<double>(mesh.size_of(axes));
  }

  [[nodiscard]] std::int64_t at(const ValueLayout& layout) const {
    if (const std::int64_t terms = mesh_.size_of(layout.partial); terms > 1) {
      const double others =
          static_cast<double>(shape_.volume()) / ranks_ * static_cast<double>(terms - 2);
      return after_ + (even_ ? static_cast<std::int64_t>(others) : 0);
    }
    std::int64_t covered = 1;
    for (std::size_t d = 0; d < layout.dims.size(); ++d) {
      covered *= std::min(mesh_.longest_part(shape_[d].size, layout.dims[d]),
                          mesh_.longest_part(shape_[d].size, to_.dims[d]));
      if (even_ && turns(layout.dims[d], to_.dims[d])) {
        return after_;
      }
    }
    return after_ - covered;
  }

 private:
  // Axes of one rank split nothing.
  [[nodiscard]] bool turns(const Axes& a, const Axes& b) const {
    const auto is_split = [this](AxisId axis) { return mesh_.axes[axis].size > 1; };
    std::size_t i = 0;
    std::size_t j = 0;
    while (true) {
      while (i < a.size() && !is_split(a[i])) {
        ++i;
      }
      while (j < b.size() && !is_split(b[j])) {
        ++j;
      }
      if (i == a.size() || j == b.size()) {
        return false;
      }
      if (a[i++] != b[j++]) {
        return true;
      }
    }
  }

  const Shape& shape_;
  const Mesh& mesh_;
  const ValueLayout& to_;
  std::int64_t after_;
  bool even_;
  double ranks_ = 1;
};

// Received elements, collectives, slices.
using Cost = std::tuple<std::int64_t, int, int>;

Cost operator+(const Cost& a, const Cost& b) {
  return {std::get<0>(a) + std::get<0>(b), std::get<1>(a) + std::get<1>(b),
          std::get<2>(a) + std::get<2>(b)};
}

std::string key_of(const ValueLayout& layout) {
  constexpr char kEnd = '\x7f';
  std::string key;
  for (const Axes& axes : layout.dims) {
    key.append(axes.begin(), axes.end());
    key.push_back(kEnd);
  }
  key.append(layout.partial.begin(), layout.partial.end());
  for (const Condition& condition : layout.where) {
    key.push_back(kEnd);
    key.push_back(static_cast<char>(condition.axis));
    key.push_back(condition.same ? static_cast<char>(*condition.same) : kEnd);
    key += std::to_string(condition.at);
  }
  return key;
}

class Search {
 public:
  Search(const Shape& shape, const Mesh& mesh, const ValueLayout& from, const ValueLayout& to)
      : shape_(shape),
        mesh_(mesh),
        target_(normal(to)),
        bound_(shape, mesh, from, target_),
        maker_(shape, mesh, from, target_) {}

  std::vector<Move> run(const ValueLayout& start) {
    reach({.kind = StepKind::kKernel, .to = normal(start), .axes = {}}, {0, 0, 0}, -1);
    while (!queue_.empty()) {
      const auto [estimate, number] = queue_.top();
      queue_.pop();
      const Node& node = nodes_[number];
      if (node.done) {
        continue;
      }
      if (node.move.to == target_) {
        return path_to(number);
      }
      nodes_[number].done = true;
      expand(number);
    }
    return {};
  }

 private:
  struct Node {
    Move move;  // that reached it
    Cost cost;
    std::ptrdiff_t from = -1;
    bool done = false;
  };

  void expand(std::size_t number) {
    const ValueLayout at = nodes_[number].move.to;
    const Cost cost = nodes_[number].cost;
    const std::int64_t before = local_elements(shape_, mesh_, at.dims);
    for (Move& move : maker_.from(at)) {
      const std::int64_t after = local_elements(shape_, mesh_, move.to.dims);
      const Volume volume = volume_of(move.kind, before, after, mesh_.size_of(move.axes));
      const bool meets = is_collective(move.kind);
      move.to = normal(std::move(move.to));
      reach(std::move(move), cost + Cost{volume.received, meets ? 1 : 0, meets ? 0 : 1},
            static_cast<std::ptrdiff_t>(number));
    }
  }

  void reach(Move move, Cost cost, std::ptrdiff_t from) {
    const auto [found, fresh] = index_.try_emplace(key_of(move.to), nodes_.size());
    const std::size_t number = found->second;
    if (fresh) {
      nodes_.emplace_back();
    } else if (nodes_[number].cost <= cost) {
      return;
    }
    const std::int64_t left = bound_.at(move.to);
    queue_.emplace(cost + Cost{left, left > 0 ? 1 : 0, 0}, number);
    nodes_[number] = {.move = std::move(move), .cost = cost, .from = from};
  }

  [[nodiscard]] std::vector<Move> path_to(std::size_t number) const {
    std::vector<Move> path;
    for (auto at = static_cast<std::ptrdiff_t>(number);
         nodes_[static_cast<std::size_t>(at)].from >= 0;
         at = nodes_[static_cast<std::size_t>(at)].from) {
      path.push_back(nodes_[static_cast<std::size_t>(at)].move);
    }
    std::ranges::reverse(path);
    return path;
  }

  // The node that was reached first goes first.
  using Waiting = std::pair<Cost, std::size_t>;

  const Shape& shape_;
  const Mesh& mesh_;
  ValueLayout target_;
  Bound bound_;
  MoveMaker maker_;
  std::deque<Node> nodes_;
  std::unordered_map<std::string, std::size_t> index_;  // of a layout's node
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> queue_;
};

}  // namespace

std::vector<Move> cheapest_moves(const Shape& shape, const Mesh& mesh, const ValueLayout& from,
                                 const ValueLayout& to) {
  return Search(shape, mesh, from, to).run(from);
}

std::int64_t least_received(const Shape& shape, const Mesh& mesh, const ValueLayout& from,
                            const ValueLayout& to) {
  return Bound(shape, mesh, from, to).at(from);
}

}  // namespace mtf
