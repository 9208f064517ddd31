#include "lowering/partition/split/split.h"

#include <algorithm>

namespace mtf {

std::vector<std::size_t> first_same(std::span<const ValueId> operands) {
  std::vector<std::size_t> same;
  for (const ValueId operand : operands) {
    same.push_back(
        static_cast<std::size_t>(std::ranges::find(operands, operand) - operands.begin()));
  }
  return same;
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

namespace {

// Whether blocks are made of whole tiles: then they read what they would without any, and are the
// same as those of an operation that has none.
bool has_whole_tiles(std::int64_t size, std::int64_t ways, std::int64_t tile) {
  return size % ways == 0 && size / ways % tile == 0;
}

}  // namespace

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
      const std::int64_t ways = mesh.size_of(layout->dims[window.dim]);
      layout->reach.push_back({.dim = window.dim,
                               .size = size,
                               .stride = window.stride,
                               .offset = window.offset,
                               .length = window.length,
                               .up = window.up,
                               .tile = has_whole_tiles(size, ways, window.tile) ? 1 : window.tile});
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

SplitCall with_loops(const SplitCall& unsplit, const LoopSplit& split) {
  return {.call = unsplit.call,
          .space = unsplit.space,
          .loops = split.loops,
          .bytes = split.bytes,
          .otherwise = split.otherwise};
}

}  // namespace mtf
