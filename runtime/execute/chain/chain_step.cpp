#include "runtime/execute/chain/chain_step.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "lowering/steps/bands.h"
#include "runtime/execute/chain/chain_sketch.h"
#include "runtime/execute/executor_program.h"
#include "runtime/execute/finite/finite_watch.h"
#include "runtime/execute/kernel/epilogue.h"
#include "runtime/execute/kernel/rank_kernel.h"
#include "runtime/execute/kernel/result_runs.h"
#include "runtime/kernels/thread_team.h"

namespace mtf {

// One serves all local ranks where their slices are of one size and no kernel runs that knows its
// rank.
ChainStep::ChainStep(const SpmdProgram& program, const Step& step, const PrepareContext& context) {
  const bool differ = program.mesh.uneven ||
                      !program.at(step.calls.back().result).layout->where.empty() ||
                      std::ranges::any_of(step.calls, is_reduction);
  for (std::size_t i = 0; i < (differ ? context.hosts.size() : 1); ++i) {
    ranks_.push_back(ChainSketch(program, step, context, i).finished());
  }
}

std::int64_t ChainStep::OnRank::groups_along(std::size_t dim) const {
  const std::int64_t indices = step_along(dim);
  return (extents[dim] + indices - 1) / indices;
}

std::int64_t ChainStep::OnRank::groups() const {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    count *= groups_along(d);
  }
  return count;
}

std::vector<std::int64_t> ChainStep::OnRank::begin_of(std::int64_t group) const {
  std::vector<std::int64_t> at(extents.size(), 0);
  for (std::size_t d = at.size(); d-- > 0;) {
    at[d] = group % groups_along(d) * step_along(d);
    group /= groups_along(d);
  }
  return at;
}

std::byte* ChainStep::Work::address(const Place& place) const {
  if (place.between >= 0) {
    return scratch.between.data() + place.between + band * place.per_band;
  }
  auto* data = static_cast<std::byte*>(prepared.at(rank, place.value));
  for (std::size_t d = 0; d < at.size(); ++d) {
    data += at[d] * place.strides[d];
  }
  return data;
}

void ChainStep::run_band(const std::vector<Pass>& passes, const Work& work) {
  BandScratch& scratch = work.scratch;
  const auto address = [&work](const Place& place) { return work.address(place); };
  for (const Pass& pass : passes) {
    scratch.ins.clear();
    scratch.outs.clear();
    std::ranges::transform(pass.inputs, std::back_inserter(scratch.ins), address);
    std::ranges::transform(pass.outputs, std::back_inserter(scratch.outs), address);
    TileLook look;
    if (work.watch != nullptr) {
      look = [&](std::size_t call, const void* data, std::int64_t begin, std::int64_t count) {
        work.watch->made(
            work.rank, *pass.calls[call],
            {.data = data, .begin = begin, .count = count, .of = pass.made, .at = work.at});
      };
    }
    if (pass.tiles) {
      pass.tiles->run(scratch.ins, scratch.outs, work.tiles, look);
      continue;
    }
    TensorView in = pass.in;
    in.data = address(pass.inputs.front());
    KernelCall call = *pass.call;  // threads have one each
    call.in = {&in, 1};
    call.out.data = scratch.outs.front();
    call.call.op->kernel(call);
    if (look) {
      look(0, scratch.outs.front(), 0, pass.made.volume());
    }
  }
}

void ChainStep::reduce_group(const OnRank& here, const std::vector<Column>& columns,
                             const Work& work) {
  for (const Column& column : columns) {
    std::byte* part = column.whole.valid()
                          ? static_cast<std::byte*>(work.prepared.at(work.rank, column.whole))
                          : work.parts + column.part;
    for (std::size_t d = 0; d < work.at.size(); ++d) {
      part += work.at[d] / here.step_along(d) * column.strides[d];
    }
    reduce(*column.plan, work.address(column.from), part);
  }
}

void ChainStep::run_groups(const OnRank& here, Interval groups, Work work) {
  for (std::int64_t group = groups.begin; group < groups.end(); ++group) {
    const std::vector<std::int64_t> begin = here.begin_of(group);
    const bool is_rest = !begin.empty() && begin.back() + here.rows > here.extents.back();
    const Passes& passes = is_rest ? here.rest : here.whole;
    for (work.band = 0; work.band < here.outer; ++work.band) {
      work.at = begin;
      if (!begin.empty()) {
        work.at.front() += work.band;
      }
      run_band(passes.bands, work);
    }
    work.at = begin;
    work.band = 0;
    reduce_group(here, passes.columns, work);
  }
}

void ChainStep::make_room(const OnRank& here, std::int64_t threads, ChainScratch& scratch) {
  BufferPool& pool = *scratch.tiles.front().pool;
  const auto fit = [&pool](Buffer& buffer, std::int64_t bytes) {
    if (buffer.bytes() < bytes) {
      buffer = Buffer();
      buffer = pool.take(bytes);
    }
  };
  for (BandScratch& mine : std::span(scratch.bands).first(static_cast<std::size_t>(threads))) {
    fit(mine.between, here.between_bytes);
  }
  fit(scratch.parts, here.part_bytes);
}

void ChainStep::join_parts(const OnRank& here, const PreparedProgram& prepared, std::size_t rank,
                           ChainScratch& scratch) {
  for (const ColumnEnd& end : here.ends) {
    void* result = prepared.at(rank, end.call->result);
    if (end.plan != nullptr) {
      reduce(*end.plan, scratch.parts.data() + end.part, result);
    }
    if (scratch.watch != nullptr) {
      scratch.watch->made(rank, *end.call,
                          {.data = result, .count = end.made.volume(), .of = end.made});
    }
  }
}

std::optional<TimeSpan> ChainStep::done_before(std::size_t rank) const {
  return left_to_ == nullptr ? std::nullopt : left_to_->done[rank];
}

bool ChainStep::has_parts(SpmdId of, const std::vector<RankKernel>& makers) const {
  for (std::size_t rank = 0; rank < makers.size(); ++rank) {
    const OnRank& here = on(rank);
    if (!here.extents.empty() || here.whole.bands.size() != 1 || !here.whole.columns.empty()) {
      return false;
    }
    const Pass& pass = here.whole.bands.front();
    const auto input = std::ranges::find(pass.inputs, of, &Place::value);
    if (!pass.tiles || input == pass.inputs.end() ||
        std::ranges::count(pass.inputs, of, &Place::value) != 1 ||
        !pass.tiles->has_parts(static_cast<std::size_t>(input - pass.inputs.begin())) ||
        pass.tiles->volume() != makers[rank].elements()) {
      return false;
    }
  }
  return true;
}

const ResultRuns* ChainStep::runs_of(std::size_t rank, SpmdId id) const {
  const auto found = std::ranges::find_if(
      runs_, [&](const auto& runs) { return runs->of == id && runs->ranks[rank].done; });
  return found == runs_.end() ? nullptr : found->get();
}

void ChainStep::run_part(const PreparedProgram& prepared, std::size_t rank, const Part& part,
                         ChainScratch& scratch, std::size_t thread) const {
  const Pass& pass = on(rank).whole.bands.front();
  BandScratch& mine = scratch.bands[thread];
  mine.outs.clear();
  for (const Place& place : pass.outputs) {
    mine.outs.push_back(prepared.at(rank, place.value));
  }
  for (Interval rest = part.elements; !rest.empty();) {
    std::int64_t end = rest.end();
    mine.ins.clear();
    for (const Place& place : pass.inputs) {
      const auto width =
          static_cast<std::int64_t>(bytes_of(prepared.program->at(place.value).type.dtype));
      const auto* first = static_cast<const std::byte*>(prepared.at(rank, place.value));
      if (place.value == part.of) {
        first = static_cast<const std::byte*>(part.values) - part.elements.begin * width;
      } else if (const ResultRuns* runs = runs_of(rank, place.value)) {
        const ResultRuns::Stretch stretch = runs->stretch(rank, first, width, rest);
        first = stretch.first;
        end = std::min(end, stretch.end);
      }
      mine.ins.push_back(first);
    }
    pass.tiles->run_part(mine.ins, mine.outs, from_to(rest.begin, end), scratch.tiles[thread]);
    rest = from_to(end, rest.end());
  }
}

void ChainStep::run_parts(const PreparedProgram& prepared, std::size_t rank,
                          ChainScratch& scratch) const {
  const TilePass& tiles = *on(rank).whole.bands.front().tiles;
  const std::int64_t elements = tiles.volume();
  const auto threads = static_cast<int>(tiles.threads_of(scratch.tiles.size()));
  run_on_team(threads, [&](int thread) {
    run_part(prepared, rank, {.elements = nth_part(elements, thread, threads)}, scratch,
             static_cast<std::size_t>(thread));
  });
}

void ChainStep::run(const PreparedProgram& prepared, std::size_t rank, ChainScratch& scratch) {
  const OnRank& here = on(rank);
  if (here.whole.bands.empty() && here.whole.columns.empty()) {
    return;
  }
  if (std::ranges::any_of(runs_, [rank](const auto& runs) { return runs->ranks[rank].done; })) {
    return run_parts(prepared, rank, scratch);
  }
  if (scratch.watch != nullptr) {
    for (const Pass& pass : here.whole.bands) {
      scratch.watch->starts(rank, pass.calls);
    }
    for (const ColumnEnd& end : here.ends) {
      scratch.watch->starts(rank, {&end.call, 1});
    }
  }
  const std::int64_t groups = here.groups();
  const std::int64_t parts = std::min<std::int64_t>(here.threads, groups);
  make_room(here, parts, scratch);
  const std::span tiles(scratch.tiles);
  run_on_team(static_cast<int>(parts), [&](int part) {
    const auto mine = static_cast<std::size_t>(part);
    run_groups(here, nth_part(groups, part, parts),
               {.prepared = prepared,
                .rank = rank,
                .tiles = parts == 1 ? tiles : tiles.subspan(mine, 1),
                .scratch = scratch.bands[mine],
                .parts = scratch.parts.data(),
                .watch = scratch.watch});
  });
  join_parts(here, prepared, rank, scratch);
}

}  // namespace mtf
