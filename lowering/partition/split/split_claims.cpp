// All tensors of an operation claim loops for the axes that split them.

#include "lowering/partition/split/split_claims.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ir/kernel.h"

namespace mtf {
namespace {

class Claimer {
 public:
  Claimer(const SplitProblem& problem, const Mesh& mesh) : problem_(problem), mesh_(mesh) {
    found_.order.resize(problem.space.loops.size());
  }

  LoopClaims run() {
    if (!problem_.firm.empty()) {
      claim_all(problem_.firm, problem_.firm.back());
    }
    firm_ = found_.axes.size();
    claim_all(problem_.operands, problem_.result);
    found_.resting = found_.axes.size();
    claim_as_made();
    found_.is_contested = std::ranges::any_of(
        found_.claims, [](const std::vector<LoopOf>& loops) { return loops.size() > 1; });
    found_.may = found_.claims;
    for (std::size_t i = 0; i < found_.axes.size(); ++i) {
      if (agree_on(i)) {
        continue;
      }
      found_.may[i].emplace_back(std::nullopt);
      if (i >= firm_) {
        add_unclaimed(i);
      }
    }
    keep_pinned();
    return std::move(found_);
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

  void claim(std::vector<Axes> loops) {
    for (std::size_t l = 0; l < loops.size(); ++l) {
      for (const AxisId axis : loops[l]) {
        claim(axis, l);
        if (!has(found_.order[l], axis)) {
          found_.order[l].push_back(axis);
        }
      }
    }
    found_.projected.push_back(std::move(loops));
  }

  void claim(AxisId axis, std::size_t loop) {
    const std::size_t at = found_.number(axis);
    if (at == found_.axes.size()) {
      found_.axes.push_back(axis);
      found_.claims.push_back({loop});
    } else if (at >= firm_ &&
               std::ranges::find(found_.claims[at], LoopOf(loop)) == found_.claims[at].end()) {
      found_.claims[at].emplace_back(loop);
    }
  }

  // An operand that was made in parts over an axis that nothing here rests over may be read so: the
  // sum of what was computed on parts of params.
  void claim_as_made() {
    if (mesh_.uneven) {
      return;
    }
    for (std::size_t i = 0; i < problem_.copies.size(); ++i) {
      for (const ValueLayout& made : problem_.copies[i]) {
        std::vector<Axes> loops = project(problem_.space.operands[i], made, problem_.space, mesh_);
        for (std::size_t l = 0; l < loops.size(); ++l) {
          Axes others;
          std::ranges::copy_if(loops[l], std::back_inserter(others),
                               [&](AxisId axis) { return found_.number(axis) >= found_.resting; });
          const bool may_split =
              !others.empty() && made.where.empty() && may_split_unasked(l, others);
          loops[l] = may_split ? std::move(others) : Axes();
        }
        if (!std::ranges::all_of(loops, &Axes::empty)) {
          claim(std::move(loops));
        }
      }
    }
  }

  // A sum that no tensor asks for must be one in blocks of the canonical order.
  [[nodiscard]] bool may_split_unasked(std::size_t loop, const Axes& axes) const {
    const std::vector<LoopDim>& loops = problem_.space.loops;
    const std::int64_t ways = mesh_.size_of(axes);
    if (loops[loop].role == DimRole::kKept) {
      return loops[loop].size % ways == 0;
    }
    return loops[loop].role == DimRole::kReduced &&
           std::ranges::count(loops, DimRole::kReduced, &LoopDim::role) == 1 &&
           canonical_blocks(problem_.space)[loop] % ways == 0;
  }

  // Whether all tensors that have the dim of a loop split it over the axis, and nothing else claims
  // it: then it splits this loop, as in Mesh-TensorFlow, whatever else might move less.
  [[nodiscard]] bool agree_on(std::size_t axis) const {
    if (found_.claims[axis].size() != 1) {
      return false;
    }
    const std::size_t loop = *found_.claims[axis].front();
    const IterationSpace& space = problem_.space;
    if (space.loops[loop].role == DimRole::kSelected ||
        space.loops[loop].role == DimRole::kServed) {
      return false;  // what ranks propose, or ask for, may be more than the dim itself
    }
    std::size_t tensor = 0;  // in the order of claim_all
    const auto splits = [&](const DimMap& map) {
      const bool held = has(found_.projected[tensor++][loop], found_.axes[axis]);
      return held || !runs_over(map, loop);
    };
    return (problem_.call.op->effect || splits(space.result)) &&
           std::ranges::all_of(space.operands, splits);
  }

  // Two operands that hold an axis along different dims may both be moved to a third.
  void add_unclaimed(std::size_t axis) {
    if (mesh_.uneven || priced_arithmetic(problem_.call, problem_.space, 1) == 0) {
      return;
    }
    for (std::size_t l = 0; l < problem_.space.loops.size(); ++l) {
      if (may_split_unasked(l, {found_.axes[axis]}) &&
          std::ranges::find(found_.may[axis], LoopOf(l)) == found_.may[axis].end()) {
        found_.may[axis].emplace_back(l);
      }
    }
  }

  // Who writes `@` behind an operand wants its axes used: they may go to another loop that claims
  // them, but not to none.
  void keep_pinned() {
    for (std::size_t i = 0; i < problem_.pinned.size(); ++i) {
      for (const Axes& axes : problem_.operands[i].dims) {
        for (const AxisId axis : axes) {
          if (problem_.pinned[i] && has(found_.axes, axis)) {
            std::erase(found_.may[found_.number(axis)], LoopOf());
          }
        }
      }
    }
  }

  const SplitProblem& problem_;
  const Mesh& mesh_;
  LoopClaims found_;
  std::size_t firm_ = 0;  // axes that are settled: they take no further loops
};

}  // namespace

std::size_t LoopClaims::number(AxisId axis) const {
  return static_cast<std::size_t>(std::ranges::find(axes, axis) - axes.begin());
}

LoopClaims claims_of(const SplitProblem& problem, const Mesh& mesh) {
  return Claimer(problem, mesh).run();
}

}  // namespace mtf
