#include "runtime/execute/chain/chain_sketch.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "lowering/memory/arena.h"
#include "lowering/steps/column_bands.h"

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

std::int64_t width_of(DType dtype) {
  return static_cast<std::int64_t>(bytes_of(dtype));
}

// Strides of an operand of that shape along the dims of the result, by the loops that both are made
// of.
std::vector<std::int64_t> strides_along(const LocalCall& call, std::size_t operand,
                                        const Shape& shape) {
  const DimMap& map = call.split->space->operands[operand];
  const std::vector<std::int64_t> strides = strides_of(shape);
  std::vector<std::int64_t> along;
  for (const auto& loops : call.split->space->result) {
    const auto found = std::ranges::find(map, loops);
    along.push_back(found == map.end() ? 0
                                       : strides[static_cast<std::size_t>(found - map.begin())]);
  }
  return along;
}

bool reads(const LocalCall& call, SpmdId id) {
  return std::ranges::find(call.operands, id) != call.operands.end();
}

}  // namespace

ChainSketch::ChainSketch(const SpmdProgram& program, const Step& step,
                         const PrepareContext& context, std::size_t index)
    : program_(program),
      context_(context),
      index_(index),
      rank_(context.communicator.local_ranks()[index]) {
  for (const LocalCall& call : step.calls) {
    (reduces_leading_dim(program, call) ? columns_ : calls_).push_back(&call);
  }
  if (std::ranges::none_of(step.calls, is_reduction)) {
    return;
  }
  const Chain chain = chain_of(step);
  const ChainExtent extent = extent_of(program, chain);
  dims_ = extent.dims;
  const Shape prefix = leading_dims(slice_shape(extent.first), dims_);
  if (prefix.volume() == 0) {  // no result has an element here: what is reduced is there in full
    extents_ = {0};
    return;
  }
  const std::int64_t bytes = row_bytes(program, chain, extent);
  threads_ = context.watched
                 ? 1
                 : threads_for(context.hosts[index].cpu(), prefix.volume() * bytes / kUsualWidth);
  bands_ = columns_.empty() ? enough_bands(bands_of(prefix, bytes), prefix, threads_)
                            : column_bands(program, chain, prefix, bytes);
  for (std::size_t d = 0; d <= bands_.cut; ++d) {
    extents_.push_back(prefix[d].size);
  }
}

ChainStep::OnRank ChainSketch::finished() && {
  ChainStep::OnRank here;
  here.extents = extents_;
  here.rows = bands_.rows;
  here.outer = bands_.outer;
  if (extents_.empty()) {
    here.whole = passes_over(1);
  } else if (std::ranges::find(extents_, 0) == extents_.end()) {
    here.whole = passes_over(bands_.rows);
    const std::int64_t rest = extents_.back() % bands_.rows;
    here.rest = rest == 0 ? ChainStep::Passes() : passes_over(rest);
    find_ends(here);
  }
  here.between_bytes = between_bytes_;
  here.threads = 2 * here.groups() > threads_ ? threads_ : 1;  // or passes have threads
  return here;
}

Shape ChainSketch::slice_shape(SpmdId id) const {
  const SpmdValue& value = program_.at(id);
  return shape_of(value.type.shape, slice_of(value.type.shape, value.layout, program_.mesh, rank_));
}

Shape ChainSketch::band_shape(SpmdId id) const {
  const Shape slice = slice_shape(id);
  std::vector<Dim> dims(slice.dims().begin(), slice.dims().end());
  for (std::size_t d = 0; d < extents_.size(); ++d) {
    dims[d].size = d == bands_.cut ? rows_ : 1;
  }
  return Shape(std::move(dims));
}

ChainStep::Passes ChainSketch::passes_over(std::int64_t rows) {
  rows_ = rows;
  between_.clear();
  place_ = 0;
  ChainStep::Passes passes;
  const std::span<const LocalCall* const> calls = calls_;
  for (std::size_t c = 0; c < calls.size();) {
    std::size_t end = c + 1;
    if (calls[c]->op().tile == nullptr) {
      passes.bands.push_back(reduction(*calls[c]));
    } else {
      const Shape shape = slice_shape(calls[c]->result);
      while (end < calls.size() && calls[end]->op().tile != nullptr &&
             slice_shape(calls[end]->result) == shape) {
        ++end;
      }
      passes.bands.push_back(tiles(calls.subspan(c, end - c), calls.subspan(end)));
    }
    c = end;
  }
  std::int64_t part = 0;
  for (const LocalCall* call : columns_) {
    passes.columns.push_back(column(*call, part));
    part += part_bytes(*call);
  }
  return passes;
}

// ---- where tensors are ---------------------------------------------------------------------

ChainStep::Place ChainSketch::place_of(SpmdId id, std::span<const std::int64_t> along) const {
  const std::int64_t width = width_of(program_.at(id).type.dtype);
  ChainStep::Place place{.value = id};
  const auto found = between_.find(at(id));
  if (found != between_.end()) {
    place.between = found->second;
    place.per_band = bytes_per_band(id);
  }
  for (std::size_t d = 0; d < extents_.size(); ++d) {
    place.strides.push_back(along[d] * width);
  }
  return place;
}

ChainStep::Place ChainSketch::place_of(SpmdId id) const {
  return place_of(id, strides_of(slice_shape(id)));
}

// What a group is reduced from is there of all its bands; of anything else the next band writes
// over the last.
std::int64_t ChainSketch::bytes_per_band(SpmdId id) const {
  const bool stays = bands_.outer > 1 && std::ranges::any_of(columns_, [id](const LocalCall* call) {
                       return reads(*call, id);
                     });
  return stays ? band_shape(id).volume() * width_of(program_.at(id).type.dtype) : 0;
}

ChainStep::Place ChainSketch::place_of_result(SpmdId id) {
  if (program_.at(id).home == Home::kNone) {
    between_.emplace(at(id), place_);
    const std::int64_t bytes = band_shape(id).volume() * width_of(program_.at(id).type.dtype);
    place_ += rounded(std::max(bytes, bands_.outer * bytes_per_band(id)));
    between_bytes_ = std::max(between_bytes_, place_);
  }
  return place_of(id);
}

// ---- passes --------------------------------------------------------------------------------

ChainStep::Pass ChainSketch::reduction(const LocalCall& call) {
  ChainStep::Pass pass;
  const SpmdId from = call.operands.front();
  pass.in = view_of(from);
  pass.inputs.push_back(place_of(from));
  for (std::size_t l = 0; l < call.split->loops.size(); ++l) {
    LoopShare& share = pass.shares.emplace_back(share_on(program_.mesh, call, l, rank_));
    const std::optional<std::size_t> dim = dim_of(call.split->space->result, l);
    if (dim && *dim < extents_.size()) {
      share.extent = band_shape(call.result)[*dim].size;
    }
  }
  pass.call = std::make_unique<KernelCall>(KernelCall{.call = call.split->call,
                                                      .space = call.split->space,
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

TensorView ChainSketch::view_of(SpmdId id) const {
  const SpmdValue& value = program_.at(id);
  return {.data = nullptr,
          .shape = band_shape(id),
          .offset = slice_of(value.type.shape, value.layout, program_.mesh, rank_).offset,
          .dtype = value.type.dtype};
}

ChainStep::Pass ChainSketch::tiles(std::span<const LocalCall* const> calls,
                                   std::span<const LocalCall* const> later) {
  ChainStep::Pass pass;
  std::vector<TileInput> inputs;
  std::vector<TileStage> stages;
  std::vector<SpmdId> made;
  std::vector<std::pair<std::size_t, std::vector<std::int64_t>>> read;  // with its strides
  for (const LocalCall* each : calls) {
    const LocalCall& call = *each;
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
  pass.made = band_shape(calls.back()->result);
  for (const Dim& dim : pass.made.dims()) {
    extents.push_back(dim.size);
  }
  pass.tiles.emplace(std::move(extents), inputs, std::move(stages));
  return pass;
}

TileStage ChainSketch::stage_of(const LocalCall& call,
                                std::span<const LocalCall* const> later) const {
  const SpmdValue& result = program_.at(call.result);
  TileStage stage;
  stage.tile = call.op().tile;
  stage.lanes = call.op().lanes;
  stage.call = {.dtype = call.operands.empty() ? result.type.dtype
                                               : program_.at(call.operands.back()).type.dtype,
                .to = result.type.dtype,
                .args = &call.split->call.args,
                .isa = context_.hosts[index_].cpu().isa};
  stage.spreads = call.op().spreads;
  stage.widened = is_widened(call.split->call);
  stage.checked = context_.watched && is_float(result.type.dtype);
  const auto reads_it = [&call](const LocalCall* other) { return reads(*other, call.result); };
  stage.stored = result.home != Home::kNone || std::ranges::any_of(later, reads_it) ||
                 std::ranges::any_of(columns_, reads_it);
  return stage;
}

// ---- reductions of the leading dim ---------------------------------------------------------

std::int64_t ChainSketch::extent_in_group(std::size_t dim, std::int64_t whole) const {
  if (dim > bands_.cut) {
    return whole;
  }
  return dim == bands_.cut ? rows_ : bands_.outer;
}

std::vector<std::int64_t> ChainSketch::strides_in_group(SpmdId id) const {
  if (!between_.contains(at(id))) {
    return strides_of(slice_shape(id));
  }
  std::vector<std::int64_t> strides = strides_of(band_shape(id));
  if (bands_.cut > 0) {
    strides.front() = bytes_per_band(id) / width_of(program_.at(id).type.dtype);
  }
  return strides;
}

ChainStep::Column ChainSketch::column(const LocalCall& call, std::int64_t part) const {
  const SpmdId from = call.operands.front();
  const DimMap& map = call.split->space->operands.front();
  const Shape slice = slice_shape(from);
  const std::vector<std::int64_t> in = strides_in_group(from);
  const std::vector<std::int64_t> out = strides_of(slice_shape(call.result));
  const std::int64_t width = width_of(call.split->call.result.dtype);
  Reduction reduction{.kind = kind_of(call.split->space->combine), .kept = {}, .reduced = {}};
  ChainStep::Column column{.from = place_of(from), .plan = nullptr, .part = part, .strides = {}};
  std::int64_t next = parts_of(call) * slice_shape(call.result).volume() * width;
  for (std::size_t d = 0; d < map.size(); ++d) {
    const std::size_t loop = map[d].front();
    const std::int64_t extent = extent_in_group(d, slice[d].size);
    const std::optional<std::size_t> kept = dim_of(call.split->space->result, loop);
    if (kept) {
      reduction.kept.push_back({.extent = extent, .in = in[d], .out = out[*kept]});
    } else {
      const std::int64_t parts = program_.mesh.size_of(call.split->loops[loop]);
      const std::int64_t blocks = blocks_of_share(*call.split->space, loop, parts);
      reduction.reduced.push_back(
          {.extent = extent, .in = in[d], .blocks = blocks * extent / slice[d].size});
    }
    if (d < extents_.size()) {
      next = kept ? bands_.rows * out[*kept] * width : next / groups_along(d);
      column.strides.push_back(next);
    }
  }
  column.plan = plan_reduction(reduction, program_.at(from).type.dtype);
  column.whole = parts_of(call) == 1 ? call.result : SpmdId();
  return column;
}

// A part for each group along the dims that are reduced.
std::int64_t ChainSketch::groups_along(std::size_t dim) const {
  const std::int64_t indices = dim == bands_.cut ? bands_.rows : bands_.outer;
  return (extents_[dim] + indices - 1) / indices;
}

bool ChainSketch::is_kept(const LocalCall& call, std::size_t dim) {
  return dim_of(call.split->space->result, call.split->space->operands.front()[dim].front())
      .has_value();
}

std::int64_t ChainSketch::parts_of(const LocalCall& call) const {
  std::int64_t parts = 1;
  for (std::size_t d = 0; d < extents_.size(); ++d) {
    parts *= is_kept(call, d) ? 1 : groups_along(d);
  }
  return parts;
}

std::int64_t ChainSketch::part_bytes(const LocalCall& call) const {
  const std::int64_t parts = parts_of(call);
  return parts == 1 ? 0
                    : rounded(parts * slice_shape(call.result).volume() *
                              width_of(call.split->call.result.dtype));
}

void ChainSketch::find_ends(ChainStep::OnRank& here) const {
  for (const LocalCall* call : columns_) {
    const Shape made = slice_shape(call->result);
    Reduction reduction{.kind = kind_of(call->split->space->combine),
                        .kept = {{.extent = made.volume(), .in = 1, .out = 1}},
                        .reduced = {}};
    std::int64_t stride = parts_of(*call) * made.volume();
    for (std::size_t d = 0; d < extents_.size(); ++d) {
      if (!is_kept(*call, d)) {
        const std::int64_t parts = groups_along(d);
        stride /= parts;
        reduction.reduced.push_back({.extent = parts, .in = stride, .blocks = parts});
      }
    }
    const bool joins = parts_of(*call) > 1;
    here.ends.push_back({.call = call,
                         .plan = joins ? plan_reduction(reduction, call->split->call.result.dtype)
                                       : std::shared_ptr<const ReductionPlan>(),
                         .part = here.part_bytes,
                         .made = made});
    here.part_bytes += part_bytes(*call);
  }
}

}  // namespace mtf
