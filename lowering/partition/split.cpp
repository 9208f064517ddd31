#include "lowering/partition/split.h"

#include <algorithm>
#include <cstdint>

namespace mtf {
namespace {

class Hash {
 public:
  void add(std::size_t part) { value_ = (value_ ^ part) * 0x9E37'79B9'7F4A'7C15U; }
  void add(const ValueLayout& layout) {
    for (const Axes& axes : layout.dims) {
      for (const AxisId axis : axes) {
        add(axis + std::size_t{1});
      }
      add(std::size_t{0});
    }
    add(layout.partial.size());
  }
  [[nodiscard]] std::size_t value() const { return value_ ^ (value_ >> 29U); }

 private:
  std::size_t value_ = 0;
};

std::size_t hash_of(const SplitProblem& problem) {
  Hash hash;
  hash.add(reinterpret_cast<std::uintptr_t>(problem.call.op));
  for (const TensorType& operand : problem.call.operands) {
    for (const Dim& dim : operand.shape.dims()) {
      hash.add(static_cast<std::size_t>(dim.size));
    }
  }
  for (const ValueLayout& layout : problem.operands) {
    hash.add(layout);
  }
  hash.add(problem.result);
  return hash.value();
}

}  // namespace

bool SplitChooser::Chosen::solves(const SplitProblem& problem) const {
  return call.op == problem.call.op && call.operands == problem.call.operands &&
         call.result == problem.call.result && std::ranges::equal(operands, problem.operands) &&
         result == problem.result && firm == problem.firm && copies == problem.copies &&
         pinned == problem.pinned && call.args == problem.call.args;
}

LoopSplit SplitChooser::choose(const SplitProblem& problem) {
  if (problem.operands.empty()) {  // its arguments may be all the numbers of a tensor
    return choose_split(problem, resharder_, mesh_);
  }
  std::vector<Chosen>& alike = chosen_[hash_of(problem)];
  const auto found =
      std::ranges::find_if(alike, [&](const Chosen& chosen) { return chosen.solves(problem); });
  if (found != alike.end()) {
    return found->split;
  }
  return alike
      .emplace_back(Chosen{.call = problem.call,
                           .operands = {problem.operands.begin(), problem.operands.end()},
                           .result = problem.result,
                           .firm = problem.firm,
                           .copies = problem.copies,
                           .pinned = problem.pinned,
                           .split = choose_split(problem, resharder_, mesh_)})
      .split;
}

std::vector<bool> pinned_operands(const Program& program, const Value& value) {
  std::vector<bool> pinned;
  for (const ValueId operand : value.operands) {
    const OpDef* op = program.at(operand).op;
    pinned.push_back(op != nullptr && op->alias);
  }
  return pinned;
}

std::vector<Axes> project(const DimMap& map, const ValueLayout& layout, const IterationSpace& space,
                          const Mesh& mesh) {
  std::vector<Axes> loops(space.loops.size());
  for (std::size_t d = 0; d < map.size(); ++d) {
    std::size_t factor = 0;
    std::int64_t left = map[d].empty() ? 1 : space.loops[map[d][0]].size;
    for (const AxisId axis : layout.dims[d]) {
      const std::int64_t size = mesh.axes[axis].size;
      while (left == 1 && size > 1 && factor + 1 < map[d].size()) {
        left = space.loops[map[d][++factor]].size;
      }
      const bool divides = left % size == 0 || (mesh.uneven && map[d].size() == 1);
      const bool fits =
          factor < map[d].size() && divides && may_split(space.loops[map[d][factor]].role);
      if (!fits) {
        break;
      }
      loops[map[d][factor]].push_back(axis);
      left = (left + size - 1) / size;
    }
  }
  return loops;
}

std::optional<ValueLayout> layout_from_loops(const DimMap& map, std::span<const Axes> loops,
                                             const IterationSpace& space, const Mesh& mesh) {
  ValueLayout layout;
  for (const std::vector<std::size_t>& factors : map) {
    Axes axes;
    bool full = true;  // every factor so far is split down to single elements
    for (const std::size_t loop : factors) {
      const std::int64_t size = space.loops[loop].size;
      const std::int64_t ways = mesh.size_of(loops[loop]);
      const bool even = factors.size() == 1 || size % ways == 0;  // or others cut its blocks
      if (!even || (!loops[loop].empty() && !full)) {
        return std::nullopt;
      }
      axes.insert(axes.end(), loops[loop].begin(), loops[loop].end());
      full = full && ways == size;
    }
    layout.dims.push_back(std::move(axes));
  }
  return layout;
}

std::optional<ValueLayout> operand_from_loops(std::size_t operand, std::span<const Axes> loops,
                                              const IterationSpace& space, const Mesh& mesh) {
  const DimMap& map = space.operands[operand];
  std::optional<ValueLayout> layout = layout_from_loops(map, loops, space, mesh);
  for (const WindowDim& window : windows_of(space, operand)) {
    if (layout && !layout->dims[window.dim].empty()) {
      std::int64_t size = 1;
      for (const std::size_t loop : map[window.dim]) {
        size *= space.loops[loop].size;
      }
      layout->reach.push_back({.dim = window.dim,
                               .size = size,
                               .stride = window.stride,
                               .offset = window.offset,
                               .length = window.length,
                               .up = window.up});
    }
  }
  return layout;
}

void add_reduced(std::span<const Axes> loops, const IterationSpace& space, ValueLayout& result) {
  for (std::size_t l = 0; l < loops.size(); ++l) {
    if (space.loops[l].role == DimRole::kReduced) {
      result.partial.insert(result.partial.end(), loops[l].begin(), loops[l].end());
    }
  }
}

bool can_hold(const ValueLayout& layout, std::span<const Condition> where) {
  const auto splits = [&layout](AxisId axis) {
    return std::ranges::any_of(layout.dims, [axis](const Axes& axes) { return has(axes, axis); });
  };
  return std::ranges::all_of(where, [&](const Condition& condition) {
    return !splits(condition.axis) && (!condition.same || splits(*condition.same));
  });
}

std::vector<ValueLayout> firm_layouts(const SpmdProgram& program, ValueId id) {
  std::vector<ValueLayout> firm;
  for (const ValueId operand : program.source.at(id).operands) {
    firm.push_back(program.target(operand).firm_layout());
  }
  firm.push_back(program.target(id).firm_layout());
  return firm;
}

}  // namespace mtf
