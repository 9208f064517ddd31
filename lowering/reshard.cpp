#include "lowering/reshard.h"

#include <algorithm>
#include <utility>

#include "lowering/reshard_moves.h"
#include "lowering/reshard_search.h"

namespace mtf {
namespace {

// What a collective that moves blocks, or adds them up, can do before it: a slice of what every
// rank has. The step is then an all-to-all or all-gather as they are known.
void add_sliced_first(const ValueLayout& from, Move move, std::vector<Move>& moves) {
  ValueLayout sliced = from;
  Axes axes;
  bool lands = false;  // some axis of the group splits another dim behind it
  for (std::size_t d = 0; d < from.dims.size(); ++d) {
    const Axes& to = move.to.dims[d];
    bool first = true;
    for (std::size_t i = from.dims[d].size(); i < to.size(); ++i) {
      first = first && !has(move.axes, to[i]);
      lands = lands || has(move.axes, to[i]);
      if (first) {
        sliced.dims[d].push_back(to[i]);
        axes.push_back(to[i]);
      }
    }
  }
  if (!axes.empty()) {
    moves.push_back({.kind = StepKind::kSlice, .to = std::move(sliced), .axes = std::move(axes)});
  }
  if (move.kind == StepKind::kAllToAll && !lands) {
    move.kind = StepKind::kAllGather;
  }
  moves.push_back(std::move(move));
}

// Their axes are in the order of the tree.
bool adds_up(StepKind kind) {
  return kind == StepKind::kReduceScatter || kind == StepKind::kAllReduce ||
         kind == StepKind::kReduce;
}

bool joins(StepKind a, StepKind b) {
  return a == b &&
         (a == StepKind::kSlice || a == StepKind::kAllGather || a == StepKind::kAllReduce ||
          a == StepKind::kBroadcast || a == StepKind::kReduce);
}

// The axes along which ranks let go of something.
Axes sliced_axes(const ValueLayout& from, const ValueLayout& to, std::size_t mesh_axes) {
  Axes axes;
  for (std::size_t a = 0; a < mesh_axes; ++a) {
    const auto axis = static_cast<AxisId>(a);
    if (to.uses(axis) && !from.uses(axis)) {
      axes.push_back(axis);
    }
  }
  return axes;
}

// As few steps as can do it, in the words that they are known by.
std::vector<Move> tidy(const ValueLayout& from, const std::vector<Move>& found,
                       std::size_t mesh_axes) {
  std::vector<Move> moves;
  const ValueLayout* at = &from;
  for (const Move& move : found) {
    if (move.kind == StepKind::kAllToAll || move.kind == StepKind::kReduceScatter) {
      add_sliced_first(*at, move, moves);
    } else {
      moves.push_back(move);
    }
    at = &move.to;
  }
  std::vector<Move> result;
  for (Move& move : moves) {
    if (result.empty() || !joins(result.back().kind, move.kind)) {
      result.push_back(std::move(move));
      continue;
    }
    Move& last = result.back();
    last.to = std::move(move.to);
    const bool inner_first = adds_up(move.kind);
    last.axes.insert(inner_first ? last.axes.begin() : last.axes.end(), move.axes.begin(),
                     move.axes.end());
  }
  at = &from;
  for (Move& move : result) {
    if (move.kind == StepKind::kSlice) {
      move.axes = sliced_axes(*at, move.to, mesh_axes);
    } else if (!adds_up(move.kind)) {
      std::ranges::sort(move.axes);
    }
    at = &move.to;
  }
  return result;
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
  for (const ValueLayout* layout : {&from, &to}) {
    key.push_back(-3);
    for (const Condition& condition : layout->where) {
      key.insert(key.end(), {condition.axis, condition.same ? *condition.same : -1, condition.at});
    }
  }
  return key;
}

}  // namespace

Volume volume_of(StepKind kind, std::int64_t from, std::int64_t to, std::int64_t ranks) {
  switch (kind) {
    case StepKind::kKernel:
    case StepKind::kSlice:
      break;
    case StepKind::kAllGather:
      return {from, from * (ranks - 1)};
    case StepKind::kAllToAll:  // of what it then has, a block came from every rank
      return {to, to / ranks * (ranks - 1)};
    case StepKind::kReduceScatter:
      return {to * ranks, to * (ranks - 1)};
    case StepKind::kPermute:
    case StepKind::kBroadcast:
    case StepKind::kReduce:  // by a rank that the others' terms pass through, and by its holder
      return {from, from};
    case StepKind::kAllReduce:
      return {from, 2 * from * (ranks - 1) / ranks};
  }
  return {from, 0};
}

void measure(const SpmdProgram& program, Step& step) {
  const SpmdValue& from = program.at(step.from);
  const Volume volume =
      volume_of(step.kind, from.local.shape.volume(), program.at(step.to).local.shape.volume(),
                program.mesh.size_of(step.axes));
  step.elements = volume.elements;
  step.received = volume.received;
  step.bytes = volume.received * static_cast<std::int64_t>(bytes_of(from.type.dtype));
}

std::int64_t Resharder::local_volume(const Shape& shape, const ValueLayout& layout) const {
  return local_elements(shape, mesh_, layout.dims);
}

const Resharder::Planned& Resharder::planned(const Shape& shape, const ValueLayout& from,
                                             const ValueLayout& to) {
  auto [entry, fresh] = cache_.try_emplace(key_of(shape, from, to));
  if (!fresh) {
    return entry->second;
  }
  Planned& result = entry->second;
  result.moves = tidy(from, cheapest_moves(shape, mesh_, from, to), mesh_.axes.size());
  if (!result.moves.empty()) {
    result.moves.back().to = to;
  } else if (from != to) {  // another spelling of the same slices
    result.moves.push_back({.kind = StepKind::kSlice, .to = to, .axes = {}});
  }
  std::int64_t at = local_volume(shape, from);
  for (const Move& move : result.moves) {
    const std::int64_t next = local_volume(shape, move.to);
    result.received += volume_of(move.kind, at, next, mesh_.size_of(move.axes)).received;
    result.collectives += is_collective(move.kind) ? 1 : 0;
    at = next;
  }
  return result;
}

// Padded blocks are counted as they are.
std::optional<Axes> Resharder::in_one_step(const ValueLayout& from, const ValueLayout& to) const {
  return mesh_.uneven ? std::nullopt : lost_in_one_step(from, to);
}

const std::vector<Move>& Resharder::plan(const Shape& shape, const ValueLayout& from,
                                         const ValueLayout& to) {
  return planned(shape, from, to).moves;
}

std::int64_t Resharder::received(const Shape& shape, const ValueLayout& from,
                                 const ValueLayout& to) {
  if (from == to) {
    return 0;
  }
  if (const std::optional<Axes> lost = in_one_step(from, to)) {
    const std::int64_t after = local_volume(shape, to);
    return volume_of(StepKind::kAllToAll, after, after, mesh_.size_of(*lost)).received;
  }
  return planned(shape, from, to).received;
}

std::int64_t Resharder::collectives(const Shape& shape, const ValueLayout& from,
                                    const ValueLayout& to) {
  if (from == to) {
    return 0;
  }
  if (const std::optional<Axes> lost = in_one_step(from, to)) {
    return lost->empty() ? 0 : 1;
  }
  return planned(shape, from, to).collectives;
}

}  // namespace mtf
