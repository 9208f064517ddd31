#include "lowering/partition/stages.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "ir/rewrite/sums/join.h"
#include "lowering/partition/split/split.h"

namespace mtf {
namespace {

// Below this, sums of blocks cost nothing that matters.
constexpr std::int64_t kSmall = std::int64_t{1} << 16;

// Max and min need no order, whole numbers neither; rows that are picked are not added.
bool adds_floats(const SplitCall& sum) {
  const bool adds = sum.space->combine == Combine::kSum || sum.space->combine == Combine::kProd;
  return adds && is_float(sum.call.result.dtype) && sum.call.op->flops != nullptr &&
         !sum.call.op->effect && sum.call.args.get<Shape>("to") != nullptr;
}

bool is_reduced(const IterationSpace& space, std::size_t loop) {
  return space.loops[loop].role == DimRole::kReduced;
}

// The loops that a first stage leaves to the next ones: each up to the innermost that carries.
std::vector<bool> left_open(const IterationSpace& space, std::span<const std::int64_t> blocks,
                            std::size_t innermost) {
  std::vector<bool> open(space.loops.size());
  for (std::size_t l = 0; l <= innermost; ++l) {
    open[l] = is_reduced(space, l) && blocks[l] > 1;
  }
  return open;
}

DimMap renumbered(const DimMap& map, const std::vector<std::vector<std::size_t>>& numbers) {
  DimMap result;
  for (const std::vector<std::size_t>& dim : map) {
    std::vector<std::size_t>& loops = result.emplace_back();
    for (const std::size_t loop : dim) {
      loops.insert(loops.end(), numbers[loop].begin(), numbers[loop].end());
    }
  }
  return result;
}

// The sum inside the blocks of the open loops, which the result keeps as dims of their own.
SplitCall inside_blocks(const SplitCall& sum, const std::vector<bool>& open,
                        std::span<const std::int64_t> blocks) {
  SplitCall inside{
      .call = sum.call, .space = {}, .loops = {}, .bytes = sum.bytes, .otherwise = sum.otherwise};
  IterationSpace space;
  space.combine = sum.space->combine;
  std::vector<std::vector<std::size_t>> numbers;
  std::vector<Dim> dims;
  const auto add = [&](LoopDim loop, const Axes& axes) {
    numbers.back().push_back(space.loops.size());
    space.loops.push_back(std::move(loop));
    inside.loops.push_back(axes);
  };
  for (std::size_t l = 0; l < sum.space->loops.size(); ++l) {
    LoopDim loop = sum.space->loops[l];
    numbers.emplace_back();
    if (!open[l]) {
      add(std::move(loop), sum.loops[l]);
      continue;
    }
    space.result.push_back({space.loops.size()});
    dims.push_back({loop.name, blocks[l]});
    add({.name = loop.name,
         .size = blocks[l],
         .role = DimRole::kKept,
         .least_block = loop.least_block},
        sum.loops[l]);
    add({.name = name_inside(loop.name), .size = loop.size / blocks[l], .role = DimRole::kReduced},
        {});
  }
  for (PricedLoops& other : inside.otherwise) {
    std::vector<Axes> loops(inside.loops.size());
    for (std::size_t l = 0; l < numbers.size(); ++l) {
      loops[numbers[l].front()] = other.loops[l];
    }
    other.loops = std::move(loops);
  }
  for (const DimMap& operand : sum.space->operands) {
    space.operands.push_back(renumbered(operand, numbers));
  }
  space.windows = sum.space->windows;
  space.way = sum.space->way;
  const DimMap kept = renumbered(sum.space->result, numbers);
  space.result.insert(space.result.end(), kept.begin(), kept.end());
  const Shape& result = sum.call.result.shape;
  dims.insert(dims.end(), result.dims().begin(), result.dims().end());
  inside.call.result.shape = Shape(std::move(dims));
  inside.call.args.set("to", inside.call.result.shape);
  inside.space = std::move(space);
  return inside;
}

// Not where the sums of blocks would be more than is summed: then the result alone moves, and the
// bits are other ones.
bool affordable(const SplitCall& sum, const SplitCall& inside) {
  std::int64_t limit = kSmall;
  for (const TensorType& operand : sum.call.operands) {
    limit = std::max(limit, operand.shape.volume());
  }
  const std::optional<std::int64_t> volume = inside.call.result.shape.checked_volume();
  return volume && *volume <= limit;
}

// What is left: the blocks of the open loops, added up.
SplitCall over_blocks(const SplitCall& inside, const SplitCall& sum, const OpDef& adds,
                      const ValueLayout& layout, const Mesh& mesh) {
  const OpDef& op = sum.call.operands.size() == 1 ? *sum.call.op : adds;
  SplitCall rest{.call = {.op = &op,
                          .operands = {inside.call.result},
                          .args = {},
                          .result = sum.call.result,
                          .span = {},
                          .operand_spans = {}},
                 .space = {},
                 .loops = {}};
  rest.call.args.set("to", sum.call.result.shape);
  rest.space = op.space(rest.call);
  rest.loops = project(rest.space->operands[0], layout, rest.space, mesh);
  return rest;
}

// Whether each term of the sum is a leaf of its tree.
bool adds_blocks(const IterationSpace& space) {
  const std::vector<std::int64_t> blocks = canonical_blocks(space);
  for (std::size_t l = 0; l < blocks.size(); ++l) {
    if (is_reduced(space, l) && blocks[l] != space.loops[l].size) {
      return false;
    }
  }
  return true;
}

// How the partial sums of a first stage may be finished: all-reduced, scattered over one of the
// dims, or as the result wants them.
std::vector<ValueLayout> ways_to_finish(const Shape& shape, const ValueLayout& made,
                                        const ValueLayout& wanted, const Mesh& mesh) {
  ValueLayout whole = made;
  const Axes partial = std::exchange(whole.partial, {});
  std::vector<ValueLayout> ways = {whole};
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    ValueLayout way = whole;
    way.dims[d].insert(way.dims[d].end(), partial.begin(), partial.end());
    if (shape[d].size % mesh.size_of(way.dims[d]) == 0) {
      ways.push_back(std::move(way));
    }
  }
  ValueLayout way = whole;
  const std::size_t blocks = made.dims.size() - wanted.dims.size();
  for (std::size_t d = blocks; d < shape.rank(); ++d) {
    const Axes& axes = wanted.dims[d - blocks];
    const auto begins = std::ranges::mismatch(axes, way.dims[d]);
    const bool wants =
        begins.in2 == way.dims[d].end() && begins.in1 != axes.end() &&
        std::all_of(begins.in1, axes.end(), [&](AxisId axis) { return has(partial, axis); });
    if (wants && shape[d].size % mesh.size_of(axes) == 0) {
      way.dims[d] = axes;
    }
  }
  ways.push_back(std::move(way));
  return ways;
}

// Whether every rank that takes part in the sum holds whole subtrees of each summed dim.
bool holds_subtrees(const IterationSpace& space, std::span<const Axes> loops,
                    std::span<const std::int64_t> blocks, const Mesh& mesh) {
  for (std::size_t l = 0; l < loops.size(); ++l) {
    const std::int64_t ways = mesh.size_of(loops[l]);
    if (is_reduced(space, l) &&
        (blocks[l] % ways != 0 || !std::has_single_bit(static_cast<std::uint64_t>(ways)))) {
      return false;
    }
  }
  return true;
}

void add_moves(StagedSum& sum, Resharder& resharder, const Shape& shape, const ValueLayout& from,
               const ValueLayout& to) {
  sum.received += resharder.received(shape, from, to);
  sum.moves += std::ranges::count_if(resharder.plan(shape, from, to),
                                     [](const Move& move) { return is_collective(move.kind); });
}

// The result as the kernel leaves it.
ValueLayout partial_layout(const SplitCall& sum, const Mesh& mesh) {
  ValueLayout layout = layout_from_loops(sum.space->result, sum.loops, sum.space, mesh).value();
  add_reduced(sum.loops, sum.space, layout);
  return layout;
}

}  // namespace

std::vector<std::size_t> carrying_loops(const IterationSpace& space, std::span<const Axes> loops,
                                        const Mesh& mesh) {
  const auto splits = [&](std::size_t l) {
    return is_reduced(space, l) && mesh.size_of(loops[l]) > 1;
  };
  std::size_t innermost = loops.size();  // that is split
  while (innermost > 0 && !splits(innermost - 1)) {
    --innermost;
  }
  const std::vector<std::int64_t> blocks = canonical_blocks(space);
  std::vector<std::size_t> carrying;
  for (std::size_t l = 0; l + 1 < innermost; ++l) {
    if (is_reduced(space, l) && blocks[l] > mesh.size_of(loops[l])) {
      carrying.push_back(l);
    }
  }
  return carrying;
}

LocalCall call_of(const SumStage& stage, const LocalCall& whole, SpmdId read) {
  LocalCall call = whole;
  call.split = stage.sum;
  call.by_loops = std::ranges::any_of(stage.sum.space->operands, [](const DimMap& map) {
    return std::ranges::any_of(map, [](const auto& loops) { return loops.size() > 1; });
  });
  if (read.valid()) {
    call.operands = {read};
  }
  return call;
}

LoopSplit split_of(const SumStage& stage, const LoopSplit& whole, SpmdId read) {
  LoopSplit split = whole;
  split.loops = stage.sum.loops;
  split.result = stage.made;
  split.chosen = whole.chosen && !read.valid();
  split.otherwise = stage.sum.otherwise;
  return split;
}

std::optional<CarriedSum> carried_by(const SpmdProgram& program, const Step& step) {
  const SpmdValue& from = program.at(step.from);
  if (from.layout->partial.empty() || !is_sum_of_blocks(program, step.from)) {
    return std::nullopt;
  }
  const std::size_t dims =
      from.type.shape.rank() - program.source.at(from.origin).type.shape.rank();
  const SpmdValue& to = program.at(step.to);
  CarriedSum carried{.dims = {}, .blocks = 1, .splits = false, .bytes = 0};
  std::int64_t left = 1;  // blocks that a rank has after the step
  for (std::size_t d = 0; d < dims; ++d) {
    if (from.local.shape[d].size > 1) {
      carried.dims.push_back(from.type.shape[d].name);
    }
    carried.blocks *= from.local.shape[d].size;
    left *= to.local.shape[d].size;
    carried.splits = carried.splits || !from.layout->dims[d].empty();
  }
  const Volume one = volume_of(step.kind, from.local.shape.volume() / carried.blocks,
                               to.local.shape.volume() / std::max<std::int64_t>(left, 1),
                               program.mesh.size_of(step.axes));
  carried.bytes = one.received * static_cast<std::int64_t>(bytes_of(from.type.dtype));
  return carried;
}

namespace {

// What is left of a sum, in one stage if need be. No stages: it has none that keep the bits.
StagedSum finished(const SplitCall& rest, const OpDef* adds, const ValueLayout& wanted,
                   Resharder& resharder, const Mesh& mesh) {
  StagedSum way = in_stages(rest, adds, wanted, resharder, mesh);
  if (way.stages.empty() && carrying_loops(rest.space, rest.loops, mesh).empty()) {
    const ValueLayout last = partial_layout(rest, mesh);
    add_moves(way, resharder, rest.call.result.shape, last, wanted);
    way.stages.push_back({.sum = rest, .made = last, .read = {}});
  }
  return way;
}

}  // namespace

StagedSum in_stages(const SplitCall& sum, const OpDef* adds, const ValueLayout& wanted,
                    Resharder& resharder, const Mesh& mesh) {
  if (adds == nullptr || !adds_floats(sum)) {
    return {};
  }
  const std::vector<std::size_t> carrying = carrying_loops(sum.space, sum.loops, mesh);
  const std::vector<std::int64_t> blocks = canonical_blocks(sum.space);
  if (carrying.empty() || !holds_subtrees(sum.space, sum.loops, blocks, mesh)) {
    return {};
  }
  const std::vector<bool> open = left_open(sum.space, blocks, carrying.back());
  const SplitCall inside = inside_blocks(sum, open, blocks);
  const ValueLayout made = partial_layout(inside, mesh);
  if (!affordable(sum, inside)) {
    return {};
  }
  const Shape& shape = inside.call.result.shape;
  StagedSum best;
  for (ValueLayout& read : ways_to_finish(shape, made, wanted, mesh)) {
    const SplitCall rest = over_blocks(inside, sum, *adds, read, mesh);
    if (!adds_blocks(rest.space)) {
      return {};
    }
    StagedSum way = finished(rest, adds, wanted, resharder, mesh);
    if (way.stages.empty()) {
      continue;
    }
    add_moves(way, resharder, shape, made, read);
    if (best.stages.empty() || way.rank() < best.rank()) {
      way.stages.insert(way.stages.begin(), {.sum = inside, .made = made, .read = std::move(read)});
      best = std::move(way);
    }
  }
  return best;
}

}  // namespace mtf
