#include "lowering/partition/digest.h"

#include <algorithm>
#include <utility>

#include "ir/rewrite/sums/join.h"

namespace mtf {
namespace {

// How the dims of a digest are made of loops.
DimMap map_of_digest(const IterationSpace& space, std::size_t loop, bool in_parts) {
  DimMap map = {in_parts ? std::vector{loop} : std::vector<std::size_t>()};
  for (const std::vector<std::size_t>& dim : space.operands.front()) {
    if (dim != std::vector{loop}) {
      map.push_back(dim);
    }
  }
  map.emplace_back();
  return map;
}

// How the ranks come to know; of a selection, all of them all digests.
StepKind kind_of(DimRole role) {
  return role == DimRole::kScanned  ? StepKind::kExclusiveScan
         : role == DimRole::kSorted ? StepKind::kSortExchange
                                    : StepKind::kAllGather;
}

}  // namespace

std::optional<DigestMove> digest_move(const OpCall& call, const IterationSpace& space,
                                      std::span<const Axes> loops, const Mesh& mesh) {
  if (!space.digest) {
    return std::nullopt;
  }
  const std::size_t loop = digested_loop(space);
  const std::int64_t parts = mesh.size_of(loops[loop]);
  if (parts == 1) {
    return std::nullopt;
  }
  const std::string& name = space.loops[loop].name;
  DigestMove move{.kind = kind_of(space.loops[loop].role),
                  .axes = loops[loop],
                  .type = {},
                  .made = {},
                  .told = {},
                  .loop = loop,
                  .volume = {}};
  std::vector<Dim> dims = {{.name = name, .size = parts}};
  const Shape& operand = call.operands.front().shape;
  for (const Dim& dim : operand.dims()) {
    if (dim.name != name) {
      dims.push_back(dim);
    }
  }
  const std::int64_t each = move.kind == StepKind::kSortExchange
                                ? mesh.longest_part(space.loops[loop].size, loops[loop])
                                : 1;
  dims.push_back({.name = name_inside(name), .size = each * space.digest->width});
  move.type = {.dtype = space.digest->dtype, .shape = Shape(std::move(dims))};
  for (const std::vector<std::size_t>& dim : map_of_digest(space, loop, /*in_parts=*/true)) {
    move.made.dims.push_back(dim.empty() ? Axes() : loops[dim.front()]);
  }
  move.told = move.made;
  if (move.kind == StepKind::kAllGather) {
    move.told.dims.front().clear();
    std::ranges::sort(move.axes);
  }
  const auto local = [&](const ValueLayout& layout) {
    return local_shape(move.type.shape, layout, mesh).volume();
  };
  move.volume = volume_of(move.kind, local(move.made), local(move.told), parts);
  return move;
}

std::int64_t scan_place(const SpmdProgram& program, const Step& step, std::int64_t rank) {
  const std::int64_t place = program.mesh.index_along(rank, step.axes);
  const IterationSpace space = unsplit_call(program.source, step.need.user).space;
  return space.digest->from_end ? program.mesh.size_of(step.axes) - 1 - place : place;
}

LocalCall digesting(const LocalCall& whole, const DigestMove& move) {
  SplitCall split = whole.split;
  IterationSpace space = split.space;
  space.result = map_of_digest(space, move.loop, /*in_parts=*/true);
  split.call.result = move.type;
  split.space = std::move(space);
  LocalCall call = whole;
  call.part = CallPart::kDigest;
  call.split = std::move(split);
  return call;
}

LocalCall rest_of(const LocalCall& whole, const DigestMove& move) {
  LocalCall call = whole;
  call.part = CallPart::kRest;
  SplitCall split = whole.split;
  split.bytes = 0;
  IterationSpace space = split.space;
  const bool told_all = move.kind == StepKind::kAllGather;  // and all choose
  if (move.kind != StepKind::kExclusiveScan) {
    split.call.operands.clear();
    call.operands.clear();
    space.operands.clear();
  }
  if (told_all) {
    split.loops[move.loop].clear();
  }
  space.operands.push_back(map_of_digest(whole.split->space, move.loop, !told_all));
  split.space = std::move(space);
  split.call.operands.push_back(move.type);
  call.split = std::move(split);
  return call;
}

}  // namespace mtf
