// Of many axes, those that stand together are first split together. What is found so is the start
// of a search that moves them one by one.

#include <span>
#include <vector>

#include "lowering/partition/split/choose_split.h"
#include "lowering/partition/split/split.h"
#include "lowering/reshard/joined_axes.h"

namespace mtf {
namespace {

// A problem in which axes that stand together in all its layouts are one.
class JoinedProblem {
 public:
  JoinedProblem(const SplitProblem& problem, Resharder& resharder, const Mesh& mesh)
      : problem_(problem), resharder_(resharder), mesh_(mesh), axes_(mesh, layouts_of(problem)) {}

  LoopSplit run() {
    if (axes_.mesh().axes.size() == mesh_.axes.size()) {
      return choose_by_axes(problem_, resharder_, mesh_);
    }
    const std::vector<ValueLayout> operands = joined_all(problem_.operands);
    const ValueLayout result = axes_.joined(problem_.result);
    SplitProblem joined{.call = problem_.call,
                        .space = problem_.space,
                        .operands = operands,
                        .result = result,
                        .firm = joined_all(problem_.firm),
                        .copies = {},
                        .same = problem_.same,
                        .is_kept = problem_.is_kept,
                        .pinned = problem_.pinned,
                        .adds = problem_.adds,
                        .price_only = true};
    for (const std::vector<ValueLayout>& copies : problem_.copies) {
      joined.copies.push_back(joined_all(copies));
    }
    Resharder resharder(axes_.mesh());
    const LoopSplit found = choose_by_axes(joined, resharder, axes_.mesh());
    resharder_.add_looks(resharder.looks());
    return improved_by_axes(problem_, resharder_, mesh_, parted(found.loops));
  }

 private:
  static std::vector<const ValueLayout*> layouts_of(const SplitProblem& problem) {
    std::vector<const ValueLayout*> layouts = {&problem.result};
    const auto add = [&layouts](std::span<const ValueLayout> list) {
      for (const ValueLayout& layout : list) {
        layouts.push_back(&layout);
      }
    };
    add(problem.operands);
    add(problem.firm);
    for (const std::vector<ValueLayout>& copies : problem.copies) {
      add(copies);
    }
    return layouts;
  }

  [[nodiscard]] std::vector<ValueLayout> joined_all(std::span<const ValueLayout> layouts) const {
    std::vector<ValueLayout> joined;
    joined.reserve(layouts.size());
    for (const ValueLayout& layout : layouts) {
      joined.push_back(axes_.joined(layout));
    }
    return joined;
  }

  [[nodiscard]] std::vector<Axes> parted(std::vector<Axes> loops) const {
    for (Axes& axes : loops) {
      axes = axes_.parted(axes);
    }
    return loops;
  }

  const SplitProblem& problem_;
  Resharder& resharder_;
  const Mesh& mesh_;
  JoinedAxes axes_;
};

}  // namespace

LoopSplit choose_split(const SplitProblem& problem, Resharder& resharder, const Mesh& mesh) {
  return mesh.axes.size() <= kMostSeparateAxes ? choose_by_axes(problem, resharder, mesh)
                                               : JoinedProblem(problem, resharder, mesh).run();
}

}  // namespace mtf
