#include "runtime/execute/chain_step.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "lowering/memory/arena.h"
#include "lowering/steps/bands.h"
#include "runtime/execute/executor_program.h"
#include "runtime/execute/finite/finite_watch.h"
#include "runtime/kernels/thread_team.h"

namespace mtf {

namespace {

constexpr std::int64_t kUsualWidth = 4;  // bytes of an element

// Bands as many as threads, where the dims have as many indices.
Bands enough_bands(Bands bands, const Shape& prefix, std::int64_t threads) {
  std::int64_t outer = 1;  // indices of the dims before
  for (std::size_t d = 0; d < bands.cut; ++d) {
    outer *= prefix[d].size;
  }
  while (outer > 0 && outer < threads) {
    const std::int64_t wanted = (threads + outer - 1) / outer;
    bands.rows = std::clamp<std::int64_t>(prefix[bands.cut].size / wanted, 1, bands.rows);
    outer *= prefix[bands.cut].size;
    if (bands.rows > 1 || outer >= threads || bands.cut + 1 == prefix.rank()) {
      break;
    }
    ++bands.cut;
    bands.rows = prefix[bands.cut].size;
  }
  return bands;
}

}  // namespace

// One rank's passes over a band of so many rows.
class ChainSketch {
 public:
  ChainSketch(const SpmdProgram& program, const Step& step, const PrepareContext& context,
              std::size_t index)
      : program_(program),
        step_(step),
        context_(context),
        index_(index),
        rank_(context.communicator.local_ranks()[index]) {
    if (std::ranges::any_of(step.calls, is_reduction)) {
      const Chain chain = chain_of(step);
      dims_ = extent_of(program, chain).dims;
      const Shape slice = slice_shape(step.calls.front().result);
      const Shape prefix(std::vector<Dim>(slice.dims().begin(), slice.dims().begin() + dims()));
      const std::int64_t bytes = row_bytes(program, chain, dims_);
      threads_ = context.watched ? 1
                                 : threads_for(context.hosts[index].cpu(),
                                               prefix.volume() * bytes / kUsualWidth);
      bands_ = enough_bands(bands_of(prefix, bytes), prefix, threads_);
      for (std::size_t d = 0; d <= bands_.cut; ++d) {
        extents_.push_back(prefix[d].size);
      }
    }
  }

  [[nodiscard]] ChainStep::OnRank finished() && {
    ChainStep::OnRank here;
    here.extents = extents_;
    here.rows = bands_.rows;
    if (extents_.empty()) {
      here.whole = passes_over(1);
    } else if (std::ranges::find(extents_, 0) == extents_.end()) {
      here.whole = passes_over(bands_.rows);
      const std::int64_t rest = extents_.back() % bands_.rows;
      here.rest = rest == 0 ? std::vector<ChainStep::Pass>() : passes_over(rest);
    }
    here.between_bytes = between_bytes_;
    here.threads = 2 * here.bands() > threads_ ? threads_ : 1;  // or passes have threads
    return here;
  }

 private:
  [[nodiscard]] std::ptrdiff_t dims() const { return static_cast<std::ptrdiff_t>(dims_); }

  [[nodiscard]] Shape slice_shape(SpmdId id) const {
    const SpmdValue& value = program_.at(id);
    return shape_of(value.type.shape,
                    slice_of(value.type.shape, value.layout, program_.mesh, rank_));
  }

  // Of what is computed here, or read as it is by a reduction.
  [[nodiscard]] Shape band_shape(SpmdId id) const {
    const Shape slice = slice_shape(id);
    std::vector<Dim> dims(slice.dims().begin(), slice.dims().end());
    for (std::size_t d = 0; d < extents_.size(); ++d) {
      dims[d].size = d == bands_.cut ? rows_ : 1;
    }
    return Shape(std::move(dims));
  }

  std::vector<ChainStep::Pass> passes_over(std::int64_t rows) {
    rows_ = rows;
    between_.clear();
    place_ = 0;
    std::vector<ChainStep::Pass> passes;
    const std::span<const LocalCall> calls = step_.calls;
    for (std::size_t c = 0; c < calls.size();) {
      std::size_t end = c + 1;
      if (calls[c].call.op->tile == nullptr) {
        passes.push_back(reduction(calls[c]));
      } else {
        const Shape shape = slice_shape(calls[c].result);
        while (end < calls.size() && calls[end].call.op->tile != nullptr &&
               slice_shape(calls[end].result) == shape) {
          ++end;
        }
        passes.push_back(tiles(calls.subspan(c, end - c), calls.subspan(end)));
      }
      c = end;
    }
    return passes;
  }

  // ---- where tensors are ----

  // Along the dims `d` of a value that the bands run over, wherever it has them.
  [[nodiscard]] ChainStep::Place place_of(SpmdId id, std::span<const std::int64_t> along) const {
    const auto width = static_cast<std::int64_t>(bytes_of(program_.at(id).type.dtype));
    ChainStep::Place place{.value = id, .between = -1, .strides = {}};
    const auto found = between_.find(at(id));
    if (found != between_.end()) {
      place.between = found->second;
    }
    for (std::size_t d = 0; d < extents_.size(); ++d) {
      place.strides.push_back(along[d] * width);
    }
    return place;
  }

  // What is computed in the chain, or read by a reduction, has the common dims in front.
  [[nodiscard]] ChainStep::Place place_of(SpmdId id) const {
    return place_of(id, strides_of(slice_shape(id)));
  }

  ChainStep::Place place_of_result(SpmdId id) {
    if (program_.at(id).home == Home::kNone) {
      const auto width = static_cast<std::int64_t>(bytes_of(program_.at(id).type.dtype));
      between_.emplace(at(id), place_);
      place_ += rounded(band_shape(id).volume() * width);
      between_bytes_ = std::max(between_bytes_, place_);
    }
    return place_of(id);
  }

  // ---- passes ----

  ChainStep::Pass reduction(const LocalCall& call) {
    ChainStep::Pass pass;
    const SpmdId from = call.operands.front();
    pass.in = view_of(from);
    pass.inputs.push_back(place_of(from));
    for (std::size_t l = 0; l < call.loops.size(); ++l) {
      LoopShare& share = pass.shares.emplace_back(share_on(program_.mesh, call, l, rank_));
      const std::optional<std::size_t> dim = dim_of(call.space->result, l);
      if (dim && *dim < extents_.size()) {
        share.extent = band_shape(call.result)[*dim].size;
      }
    }
    pass.call = std::make_unique<KernelCall>(KernelCall{.call = call.call,
                                                        .space = call.space,
                                                        .in = {},
                                                        .out = view_of(call.result),
                                                        .shares = pass.shares,
                                                        .exact = context_.exact,
                                                        .host = context_.hosts[index_],
                                                        .notes = std::make_shared<KernelNotes>()});
    pass.outputs.push_back(place_of_result(call.result));
    pass.calls.push_back(&call);
    pass.made = band_shape(call.result);
    return pass;
  }

  [[nodiscard]] TensorView view_of(SpmdId id) const {
    const SpmdValue& value = program_.at(id);
    return {.data = nullptr,
            .shape = band_shape(id),
            .offset = slice_of(value.type.shape, value.layout, program_.mesh, rank_).offset,
            .dtype = value.type.dtype};
  }

  // `later`: the calls behind them.
  ChainStep::Pass tiles(std::span<const LocalCall> calls, std::span<const LocalCall> later) {
    ChainStep::Pass pass;
    std::vector<TileInput> inputs;
    std::vector<TileStage> stages;
    std::vector<SpmdId> made;
    std::vector<std::pair<std::size_t, std::vector<std::int64_t>>> read;  // with its strides
    for (const LocalCall& call : calls) {
      TileStage& stage = stages.emplace_back(stage_of(call, later));
      for (std::size_t i = 0; i < call.operands.size(); ++i) {
        const SpmdId id = call.operands[i];
        const auto maker = std::ranges::find(made, id);
        if (maker != made.end()) {
          stage.operands.push_back(~(maker - made.begin()));
          continue;
        }
        const bool is_between = between_.contains(at(id));
        std::pair input(at(id),
                        strides_along(call, i, is_between ? band_shape(id) : slice_shape(id)));
        const auto known = std::ranges::find(read, input);
        stage.operands.push_back(known - read.begin());
        if (known == read.end()) {
          inputs.push_back({.dtype = program_.at(id).type.dtype, .strides = input.second});
          pass.inputs.push_back(place_of(id, strides_along(call, i, slice_shape(id))));
          read.push_back(std::move(input));
        }
      }
      made.push_back(call.result);
      pass.calls.push_back(&call);
      if (stage.stored) {
        pass.outputs.push_back(place_of_result(call.result));
      }
    }
    std::vector<std::int64_t> extents;
    pass.made = band_shape(calls.back().result);
    for (const Dim& dim : pass.made.dims()) {
      extents.push_back(dim.size);
    }
    pass.tiles.emplace(std::move(extents), inputs, std::move(stages));
    return pass;
  }

  [[nodiscard]] TileStage stage_of(const LocalCall& call, std::span<const LocalCall> later) const {
    const SpmdValue& result = program_.at(call.result);
    TileStage stage;
    stage.tile = call.call.op->tile;
    stage.lanes = call.call.op->lanes;
    stage.call = {.dtype = call.operands.empty() ? result.type.dtype
                                                 : program_.at(call.operands.back()).type.dtype,
                  .to = result.type.dtype,
                  .args = &call.call.args,
                  .isa = context_.hosts[index_].cpu().isa};
    stage.spreads = call.call.op->spreads;
    stage.widened = is_widened(call.call);
    stage.checked = context_.watched && is_float(result.type.dtype);
    stage.stored =
        result.home != Home::kNone || std::ranges::any_of(later, [&call](const LocalCall& other) {
          return std::ranges::find(other.operands, call.result) != other.operands.end();
        });
    return stage;
  }

  // Strides of an operand of that shape along the dims of the result, by the loops that both are
  // made of.
  [[nodiscard]] static std::vector<std::int64_t> strides_along(const LocalCall& call,
                                                               std::size_t operand,
                                                               const Shape& shape) {
    const DimMap& map = call.space->operands[operand];
    const std::vector<std::int64_t> strides = strides_of(shape);
    std::vector<std::int64_t> along;
    for (const auto& loops : call.space->result) {
      const auto found = std::ranges::find(map, loops);
      along.push_back(found == map.end() ? 0
                                         : strides[static_cast<std::size_t>(found - map.begin())]);
    }
    return along;
  }

  const SpmdProgram& program_;
  const Step& step_;
  const PrepareContext& context_;
  std::size_t index_;
  std::int64_t rank_;
  std::size_t dims_ = 0;
  Bands bands_;
  int threads_ = 1;
  std::vector<std::int64_t> extents_;            // of the common dims, up to the one that is cut
  std::int64_t rows_ = 1;                        // of that one in the band
  std::map<std::size_t, std::int64_t> between_;  // per value
  std::int64_t place_ = 0;                       // of the next one
  std::int64_t between_bytes_ = 0;               // of any band
};

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

std::int64_t ChainStep::OnRank::bands_along(std::size_t dim) const {
  const std::int64_t indices = step_along(dim);
  return (extents[dim] + indices - 1) / indices;
}

std::int64_t ChainStep::OnRank::bands() const {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    count *= bands_along(d);
  }
  return count;
}

std::vector<std::int64_t> ChainStep::OnRank::begin_of(std::int64_t band) const {
  std::vector<std::int64_t> at(extents.size(), 0);
  for (std::size_t d = at.size(); d-- > 0;) {
    at[d] = band % bands_along(d) * step_along(d);
    band /= bands_along(d);
  }
  return at;
}

void ChainStep::run_band(const std::vector<Pass>& passes, const std::vector<std::int64_t>& at,
                         const Work& work) {
  BandScratch& scratch = work.scratch;
  const auto address = [&](const Place& place) {
    if (place.between >= 0) {
      return scratch.between.data() + place.between;
    }
    auto* data = static_cast<std::byte*>(work.prepared.at(work.rank, place.value));
    for (std::size_t d = 0; d < at.size(); ++d) {
      data += at[d] * place.strides[d];
    }
    return data;
  };
  for (const Pass& pass : passes) {
    scratch.ins.clear();
    scratch.outs.clear();
    std::ranges::transform(pass.inputs, std::back_inserter(scratch.ins), address);
    std::ranges::transform(pass.outputs, std::back_inserter(scratch.outs), address);
    TileLook look;
    if (work.watch != nullptr) {
      look = [&](std::size_t call, const void* data, std::int64_t begin, std::int64_t count) {
        work.watch->made(work.rank, *pass.calls[call],
                         {.data = data, .begin = begin, .count = count, .of = pass.made, .at = at});
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

void ChainStep::run_bands(const OnRank& here, Interval bands, const Work& work) {
  for (std::int64_t band = bands.begin; band < bands.end(); ++band) {
    const std::vector<std::int64_t> at = here.begin_of(band);
    const bool is_rest = !at.empty() && at.back() + here.rows > here.extents.back();
    run_band(is_rest ? here.rest : here.whole, at, work);
  }
}

void ChainStep::run(const PreparedProgram& prepared, std::size_t rank, ChainScratch& scratch) {
  OnRank& here = ranks_[ranks_.size() == 1 ? 0 : rank];
  if (here.whole.empty()) {
    return;
  }
  for (const Pass& pass : here.whole) {
    if (scratch.watch != nullptr) {
      scratch.watch->starts(rank, pass.calls);
    }
  }
  const std::int64_t bands = here.bands();
  const std::int64_t parts = std::min<std::int64_t>(here.threads, bands);
  for (BandScratch& mine : std::span(scratch.bands).first(static_cast<std::size_t>(parts))) {
    if (mine.between.bytes() < here.between_bytes) {
      mine.between = Buffer();
      mine.between = scratch.tiles.front().pool->take(here.between_bytes);
    }
  }
  const std::span tiles(scratch.tiles);
  run_on_team(static_cast<int>(parts), [&](int part) {
    const auto mine = static_cast<std::size_t>(part);
    run_bands(here, nth_part(bands, part, parts),
              {.prepared = prepared,
               .rank = rank,
               .tiles = parts == 1 ? tiles : tiles.subspan(mine, 1),
               .scratch = scratch.bands[mine],
               .watch = scratch.watch});
  });
}

}  // namespace mtf
