#include "lowering/finish.h"

#include <algorithm>
#include <span>
#include <utility>

#include "lowering/holders.h"

namespace mtf {
namespace {

using Dims = std::vector<Axes>;

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

// The target spelled with the axes that the layout has: on a diagonal that which splits a dim
// already, else the one that is summed first.
ValueLayout spelled_for(const ValueLayout& layout, ValueLayout to) {
  Axes first;  // splits already, or is summed before the others
  for (const Axes& axes : layout.dims) {
    first.insert(first.end(), axes.begin(), axes.end());
  }
  first.insert(first.end(), layout.partial.rbegin(), layout.partial.rend());
  for (auto axis = first.begin(); axis != first.end(); ++axis) {
    const Condition* condition = condition_on(to, *axis);
    if (condition != nullptr && condition->same &&
        std::find(first.begin(), axis, *condition->same) == axis) {
      to = turned_to(to, *axis);
    }
  }
  return to;
}

// Whether the sum over the axis is wanted by some ranks only, whose slices are cut already.
bool goes_to_holders(const ValueLayout& layout, const ValueLayout& to, AxisId axis) {
  const Condition* condition = condition_on(to, axis);
  return condition != nullptr &&
         (!condition->same || std::ranges::any_of(layout.dims, [&](const Axes& axes) {
           return std::ranges::find(axes, *condition->same) != axes.end();
         }));
}

struct Finish {
  StepKind kind{};
  std::size_t axes = 1;  // how many, innermost
  std::optional<std::size_t> dim;
};

Finish next_finish(const ValueLayout& layout, const ValueLayout& to) {
  if (goes_to_holders(layout, to, layout.partial.back())) {
    return {.kind = StepKind::kReduce};
  }
  const auto [length, dim] = longest_scatter(layout, to);
  return {
      .kind = dim ? StepKind::kReduceScatter : StepKind::kAllReduce, .axes = length, .dim = dim};
}

}  // namespace

std::vector<Move> finish(ValueLayout& layout, const ValueLayout& wanted) {
  const ValueLayout to = spelled_for(layout, wanted);
  std::vector<Move> moves;
  while (!layout.partial.empty()) {
    const Finish next = next_finish(layout, to);
    const auto first = layout.partial.end() - static_cast<std::ptrdiff_t>(next.axes);
    const Axes axes(first, layout.partial.end());
    layout.partial.erase(first, layout.partial.end());
    if (next.dim) {
      layout.dims[*next.dim].insert(layout.dims[*next.dim].end(), axes.begin(), axes.end());
    }
    if (next.kind == StepKind::kReduce) {
      layout.where.push_back(*condition_on(to, axes.front()));
      std::ranges::sort(layout.where);
    }
    if (!next.dim && !moves.empty() && moves.back().kind == next.kind) {
      moves.back().axes.insert(moves.back().axes.begin(), axes.begin(), axes.end());
      moves.back().to = layout;
    } else {
      moves.push_back({.kind = next.kind, .to = layout, .axes = axes});
    }
  }
  return moves;
}

}  // namespace mtf
