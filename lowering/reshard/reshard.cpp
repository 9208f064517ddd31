#include "lowering/reshard/reshard.h"

#include <algorithm>
#include <utility>

#include "lowering/reshard/halo.h"
#include "lowering/reshard/reshard_bound.h"
#include "lowering/reshard/reshard_moves.h"
#include "lowering/reshard/reshard_search.h"
#include "lowering/rounds/scan_rounds.h"
#include "lowering/rounds/sort_rounds.h"
#include "lowering/unlike/lacking.h"

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
    key.push_back(-4);
    for (const Reach& reach : layout->reach) {
      const auto dim = static_cast<std::int64_t>(reach.dim);
      key.insert(key.end(),
                 {dim, reach.size, reach.stride, reach.offset, reach.length, reach.up, reach.tile});
    }
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
    case StepKind::kHaloExchange:  // by the ranks' slices (halo.h)
      break;
    case StepKind::kAllGather:
      return {from, from * (ranks - 1)};
    case StepKind::kServe:  // who has what is asked for is not known before
      return {to, to};
    case StepKind::kAllToAll:  // of what it then has, a block came from every rank
      return {to, to / ranks * (ranks - 1)};
    case StepKind::kReduceScatter:
      return {to * ranks, to * (ranks - 1)};
    case StepKind::kExclusiveScan:
      return {from, from * most_scan_messages(ranks)};
    case StepKind::kSortExchange:  // but for what uneven parts swap at the end (sort_rounds.h)
      return {from, from * most_sort_messages(ranks)};
    case StepKind::kPermute:
    case StepKind::kBroadcast:
    case StepKind::kReduce:  // by a rank that the others' terms pass through, and by its holder
      return {from, from};
    case StepKind::kAllReduce:
      return {from, 2 * from - (2 * from + ranks - 1) / ranks};  // times ranks it might overflow
  }
  return {from, 0};
}

Volume volume_of(const SpmdProgram& program, const Step& step) {
  const SpmdValue& from = program.at(step.from);
  const SpmdValue& to = program.at(step.to);
  Volume volume = volume_of(step.kind, from.local.shape.volume(), to.local.shape.volume(),
                            program.mesh.size_of(step.axes));
  if (step.kind == StepKind::kHaloExchange) {
    const std::vector<MovedDim> reads = reads_of(program, step);
    volume.received = most_halo_received(halo_of(program, step, reads));
    return volume;
  }
  if (step.kind == StepKind::kSortExchange && program.mesh.uneven) {
    const std::int64_t dim = sorted_dim_of(program, step).size;
    const std::int64_t longest = program.mesh.longest_part(dim, step.axes);
    volume.received = volume.elements / std::max<std::int64_t>(longest, 1) *
                      most_sort_received(program.mesh, dim, step.axes);
    return volume;
  }
  if (step.kind != StepKind::kAllToAll || !program.mesh.uneven) {
    return volume;
  }
  constexpr std::size_t kMostPlaces = 1 << 16;
  RankSum received(program.mesh);
  add_lacking(received, 1, {.mesh = program.mesh, .shape = from.type.shape, .layout = from.layout},
              {.mesh = program.mesh, .shape = to.type.shape, .layout = to.layout});
  const std::optional<RankSum::Most> most = received.most(kMostPlaces);
  volume.received = most ? most->amount : volume.elements;
  return volume;
}

std::int64_t hops_of(StepKind kind, std::int64_t ranks) {
  switch (kind) {
    case StepKind::kKernel:
    case StepKind::kSlice:
      return 0;
    case StepKind::kPermute:
    case StepKind::kHaloExchange:
      return 1;
    case StepKind::kExclusiveScan:
      return std::ssize(scan_rounds(ranks, 0));
    case StepKind::kSortExchange:
      return std::ssize(sort_rounds(ranks, 0));
    case StepKind::kAllReduce:
      return 2 * (ranks - 1);
    default:
      return ranks - 1;
  }
}

void measure(const SpmdProgram& program, Step& step) {
  const SpmdValue& from = program.at(step.from);
  const Volume volume = volume_of(program, step);
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
  if (fresh && !to.reach.empty()) {
    entry->second = with_border(shape, from, to);
  } else if (fresh) {
    entry->second =
        measured(shape, from, to, cheapest_moves(shape, mesh_, from, to, {}, looks_).value());
    use_idle(shape, from, to, entry->second);
  }
  return entry->second;
}

Resharder::Planned Resharder::measured(const Shape& shape, const ValueLayout& from,
                                       const ValueLayout& to,
                                       const std::vector<Move>& found) const {
  Planned result;
  result.moves = tidy(from, found, mesh_.axes.size());
  if (!result.moves.empty()) {
    result.moves.back().to = to;
  } else if (from != to) {  // another spelling of the same slices
    result.moves.push_back({.kind = StepKind::kSlice, .to = to, .axes = {}});
  }
  std::int64_t at = local_volume(shape, from);
  for (const Move& move : result.moves) {
    const std::int64_t next = local_volume(shape, move.to);
    const std::int64_t ranks = mesh_.size_of(move.axes);
    result.received += volume_of(move.kind, at, next, ranks).received;
    result.collectives += is_collective(move.kind) ? 1 : 0;
    result.hops += hops_of(move.kind, ranks);
    at = next;
  }
  return result;
}

// Once all ranks hold slices, each is sent what it lacks, wherever that is.
Resharder::Planned Resharder::with_border(const Shape& shape, const ValueLayout& from,
                                          const ValueLayout& to) {
  ValueLayout everywhere = from;
  everywhere.where.clear();
  everywhere.partial.clear();
  Planned result;
  if (everywhere != from) {
    result = measured(shape, from, everywhere,
                      cheapest_moves(shape, mesh_, from, everywhere, {}, looks_).value());
  }
  const std::vector<MovedDim> reads = reads_of_itself(shape);
  const Halo halo{.mesh = mesh_,
                  .reads = reads,
                  .operand = shape,
                  .from = everywhere,
                  .result = shape,
                  .to = to};
  const Axes axes = halo_axes(halo);
  const StepKind kind = axes.empty() ? StepKind::kSlice : StepKind::kHaloExchange;
  result.moves.push_back(
      {.kind = kind,
       .to = to,
       .axes = axes.empty() ? sliced_axes(everywhere, to, mesh_.axes.size()) : axes});
  result.received += most_halo_received(halo);
  result.collectives += is_collective(kind) ? 1 : 0;
  result.hops += hops_of(kind, mesh_.size_of(axes));
  return result;
}

// Ranks that all have the same and are to have the same may each do a part of the work on the way,
// and gather what the others did. More ranks take part then; a message more in a row has to be
// worth it. All idle axes are tried, then without the longest of them, and so on.
void Resharder::use_idle(const Shape& shape, const ValueLayout& from, const ValueLayout& to,
                         Planned& best) {
  constexpr std::int64_t kElementsPerHop = 4096;  // received while a message is on its way
  constexpr std::int64_t kMostLayouts = 1000;
  if (mesh_.uneven || !from.where.empty() || !to.where.empty()) {
    return;
  }
  Axes idle = idle_axes(mesh_, from, to);
  const auto size_of_axis = [this](AxisId axis) { return mesh_.axes[axis].size; };
  for (; !idle.empty(); idle.erase(std::ranges::max_element(idle, {}, size_of_axis))) {
    const std::int64_t most = best.received - kElementsPerHop;
    if (ReshardBound(shape, mesh_, from, to, idle).at(from).received > most) {
      return;
    }
    const std::optional<std::vector<Move>> found = cheapest_moves(
        shape, mesh_, from, to, {.idle = idle, .received = most, .layouts = kMostLayouts}, looks_);
    if (!found) {
      continue;
    }
    Planned other = measured(shape, from, to, *found);
    if (best.received - other.received >= (other.hops - best.hops) * kElementsPerHop) {
      best = std::move(other);
      return;
    }
  }
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
