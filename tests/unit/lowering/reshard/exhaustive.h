// The least that can be received, found by trying everything: on small meshes the planner is held
// to it. Knows nothing of how the planner searches, only which steps there are and what each costs.

#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "lowering/partition/split/split.h"

namespace mtf::tests {

// Every layout of one shape on one mesh, and the cheapest way from each to each.
class Exhaustive {
 public:
  // Which axes steps are along: those that `from` or `to` names (ranks that differ along others
  // have the same and do the same), or all.
  enum class Along { kNamed, kAll };
  Exhaustive(Shape shape, const Mesh& mesh, Along along);

  // In elements. requires: all ranks hold both; `to` has no partial sum.
  [[nodiscard]] std::int64_t received(const ValueLayout& from, const ValueLayout& to);

  [[nodiscard]] const std::vector<std::vector<Axes>>& layouts() const { return layouts_; }

 private:
  using Costs = std::vector<std::int64_t>;

  void add_layouts(std::vector<Axes>& dims);
  [[nodiscard]] std::int64_t volume(std::size_t layout) const { return volumes_[layout]; }
  // Of one step, where no sum is partial or the same stays partial; -1: no step does it.
  [[nodiscard]] std::int64_t step(std::size_t from, std::size_t to) const;
  [[nodiscard]] std::int64_t scatter(std::size_t from, std::size_t to, const Axes& run) const;
  [[nodiscard]] bool avoids(std::size_t layout, const Axes& axes) const;
  // By the fewest steps' cost to where `costs` says what is left from there.
  void relax(Costs& costs, const Axes& closed) const;
  const Costs& to_target(const Axes& partial, const Axes& idle, std::size_t target);

  Shape shape_;
  const Mesh& mesh_;
  Along along_;
  std::vector<std::vector<Axes>> layouts_;
  std::vector<std::int64_t> volumes_;
  std::vector<std::vector<std::int64_t>> steps_;  // of one step, -1: none
  std::map<std::vector<Axes>, std::size_t> number_;
  std::map<std::tuple<Axes, Axes, std::size_t>, Costs> known_;  // by the arguments of to_target
};

// The least price (split.h) of an operation over all splits of its loops over `axes`, each of them
// in every order.
struct Cheapest {
  double price = 0;
  std::int64_t bytes = 0;
  std::vector<Axes> loops;
};
[[nodiscard]] Cheapest cheapest_split(const SplitProblem& problem, const Axes& axes,
                                      const Mesh& mesh, std::vector<Exhaustive>& tensors);

}  // namespace mtf::tests
