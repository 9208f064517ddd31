#include "lowering/reshard/reshard_search.h"

#include <algorithm>
#include <array>
#include <deque>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "lowering/layout/holders.h"
#include "lowering/reshard/joined_axes.h"
#include "lowering/reshard/reshard_bound.h"
#include "lowering/reshard/reshard_moves.h"

namespace mtf {
namespace {

// Received elements, collectives, slices.
using MoveCost = std::tuple<std::int64_t, int, int>;

MoveCost operator+(const MoveCost& a, const MoveCost& b) {
  return {std::get<0>(a) + std::get<0>(b), std::get<1>(a) + std::get<1>(b),
          std::get<2>(a) + std::get<2>(b)};
}

void add_axes(const Axes& axes, std::string& key) {
  key.append(reinterpret_cast<const char*>(axes.begin()), axes.size());
}

std::string key_of(const ValueLayout& layout) {
  constexpr char kEnd = '\x7f';
  std::string key;
  for (const Axes& axes : layout.dims) {
    add_axes(axes, key);
    key.push_back(kEnd);
  }
  add_axes(layout.partial, key);
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
  Search(const Shape& shape, const Mesh& mesh, const ValueLayout& from, const ValueLayout& to,
         const SearchLimits& limits, std::int64_t& looks)
      : shape_(shape),
        mesh_(mesh),
        target_(normal(to)),
        limits_(limits),
        looks_(looks),
        bound_(shape, mesh, from, target_, limits.idle),
        maker_(shape, mesh, from, target_, limits.idle) {}

  std::optional<std::vector<Move>> run(const ValueLayout& start) {
    constexpr std::int64_t kExact = 128;  // layouts to go on from; over four axes, some 60 at most
    std::int64_t seen = 0;
    reach({.kind = StepKind::kKernel, .to = normal(start), .axes = {}}, {0, 0, 0}, -1);
    while (!queue_.empty() && seen < limits_.layouts) {
      const std::size_t number = queue_.top().node;
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
      if (++seen == kExact) {
        hurry();
      }
    }
    return std::nullopt;
  }

 private:
  struct Node {
    Move move;  // that reached it
    MoveCost cost;
    std::ptrdiff_t from = -1;
    bool done = false;
  };

  void expand(std::size_t number) {
    const ValueLayout at = nodes_[number].move.to;
    const MoveCost cost = nodes_[number].cost;
    const std::int64_t before = local_elements(shape_, mesh_, at.dims);
    for (Move& move : maker_.from(at)) {
      ++looks_;
      const std::int64_t after = local_elements(shape_, mesh_, move.to.dims);
      const Volume volume = volume_of(move.kind, before, after, mesh_.size_of(move.axes));
      const bool meets = is_collective(move.kind);
      move.to = normal(std::move(move.to));
      reach(std::move(move), cost + MoveCost{volume.received, meets ? 1 : 0, meets ? 0 : 1},
            static_cast<std::ptrdiff_t>(number));
    }
  }

  void reach(Move move, MoveCost cost, std::ptrdiff_t from) {
    const auto [found, fresh] = index_.try_emplace(key_of(move.to), nodes_.size());
    const std::size_t number = found->second;
    if (fresh) {
      nodes_.emplace_back();
    } else if (nodes_[number].cost <= cost) {
      return;
    }
    nodes_[number] = {.move = std::move(move), .cost = cost, .from = from};
    wait(number);
  }

  void wait(std::size_t number) {
    const auto& [move, cost, from, done] = nodes_[number];
    const auto [received, collectives] = bound_.at(move.to);
    if (std::get<0>(cost) + received > limits_.received) {
      return;
    }
    if (is_hasty_) {
      queue_.push({{axes_off(move.to), 0, 0}, std::get<0>(cost) + received, number});
    } else {
      const std::int64_t left = limits_.idle.empty() ? 0 : received;
      queue_.push({cost + MoveCost{received, collectives, 0}, left, number});
    }
  }

  // Between many axes there are more layouts than one can look at. From then on the one goes first
  // that has the fewest axes where the target has others, and of those the cheapest. Some step
  // always leads to fewer, so that this ends after as many steps as there are axes.
  void hurry() {
    is_hasty_ = true;
    queue_ = {};
    for (std::size_t number = 0; number < nodes_.size(); ++number) {
      if (!nodes_[number].done) {
        wait(number);
      }
    }
  }

  [[nodiscard]] std::int64_t axes_off(const ValueLayout& layout) const {
    std::int64_t off = std::ssize(layout.partial);
    for (std::size_t d = 0; d < layout.dims.size(); ++d) {
      const Axes& has = layout.dims[d];
      const Axes& wants = target_.dims[d];
      const std::ptrdiff_t common = std::ranges::mismatch(has, wants).in1 - has.begin();
      off += std::ssize(has) + std::ssize(wants) - 2 * common;
    }
    return off + (layout.where == target_.where ? 0 : 1);
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

  // Of the same estimate the node that was reached first goes first. Once a way is known, and the
  // search is for a cheaper one, the one that is nearest to the target does: it takes fewer steps.
  struct Waiting {
    MoveCost estimate;
    std::int64_t left = 0;
    std::size_t node = 0;

    // NOLINTNEXTLINE(modernize-use-nullptr): of what the compiler writes
    auto operator<=>(const Waiting&) const = default;
  };

  const Shape& shape_;
  const Mesh& mesh_;
  ValueLayout target_;
  const SearchLimits& limits_;
  std::int64_t& looks_;  // steps that were tried
  ReshardBound bound_;
  MoveMaker maker_;
  bool is_hasty_ = false;
  std::deque<Node> nodes_;
  std::unordered_map<std::string, std::size_t> index_;  // of a layout's node
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> queue_;
};

}  // namespace

std::optional<std::vector<Move>> cheapest_moves(const Shape& shape, const Mesh& mesh,
                                                const ValueLayout& from, const ValueLayout& to,
                                                const SearchLimits& limits, std::int64_t& looks) {
  if (used_axes(mesh, from, to).size() + limits.idle.size() <= kMostSeparateAxes) {
    return Search(shape, mesh, from, to, limits, looks).run(from);
  }
  const JoinedAxes axes(mesh, std::array{&from, &to});
  const ValueLayout start = axes.joined(from);
  const SearchLimits joined = {
      .idle = axes.joined(limits.idle), .received = limits.received, .layouts = limits.layouts};
  std::optional<std::vector<Move>> moves =
      Search(shape, axes.mesh(), start, axes.joined(to), joined, looks).run(start);
  for (std::size_t m = 0; moves && m < moves->size(); ++m) {
    Move& move = (*moves)[m];
    move.to = axes.parted(std::move(move.to));
    move.axes = axes.parted(move.axes);
  }
  return moves;
}

}  // namespace mtf
