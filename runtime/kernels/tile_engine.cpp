// The plan of a pass: which dims act as one, how large a tile is, how each operand is read.

#include "runtime/kernels/tile_engine.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace mtf {
namespace {

constexpr std::int64_t kTileElements = 1024;
constexpr std::int64_t kLongTileElements = 16384;    // of what lies in order and stays in registers
constexpr std::int64_t kCheckedTileElements = 2048;  // the same where results may wait
constexpr std::int64_t kTurnedRows = 16;
constexpr std::int64_t kAlignment = 64;
constexpr std::int64_t kNearBytes = 1 << 20;  // that a near cache may have from before

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// As TileCall::lone has them.
std::uint32_t operands_that_are(const TileStage& stage, std::size_t input) {
  std::uint32_t bits = 0;
  for (std::size_t o = 0; o < stage.operands.size(); ++o) {
    const bool is_input = stage.operands[o] == static_cast<std::int64_t>(input);
    bits |= is_input ? std::uint32_t{1} << o : 0;
  }
  return bits;
}

}  // namespace

TilePass::TilePass(std::vector<std::int64_t> extents, const std::vector<TileInput>& inputs,
                   std::vector<TileStage> stages)
    : extents_(std::move(extents)) {
  for (const TileInput& input : inputs) {
    const auto width = static_cast<std::int64_t>(bytes_of(input.dtype));
    Input& mine = inputs_.emplace_back();
    mine.width = width;
    mine.dtype = input.dtype;
    for (const std::int64_t stride : input.strides) {
      mine.strides.push_back(stride * width);
    }
  }
  for (TileStage& stage : stages) {
    const auto width = static_cast<std::int64_t>(bytes_of(stage.call.to));
    std::vector<DType> dtypes;
    for (const std::int64_t operand : stage.operands) {
      dtypes.push_back(operand >= 0 ? inputs[static_cast<std::size_t>(operand)].dtype
                                    : stages_[static_cast<std::size_t>(~operand)].spec.call.to);
    }
    stages_.push_back(
        {.spec = std::move(stage), .dtypes = std::move(dtypes), .width = width, .place = 0});
  }
  checks_ = std::ranges::any_of(stages_, [](const Stage& stage) { return stage.spec.checked; });
  volume_ = std::accumulate(extents_.begin(), extents_.end(), std::int64_t{1}, std::multiplies<>());
  if (volume_ > 0) {
    merge_dims();
    choose_tile();
    find_units();
    find_lone();
    widen_tile();
    prefetches_ = row_group_ == 1 && !is_stream() && bytes_in_place() > kNearBytes;
    for (Unit& unit : units_) {
      compile(unit);
    }
    place_scratch();
  }
}

// Neighbouring dims are one where every operand steps through them as through one.
void TilePass::merge_dims() {
  for (std::size_t d = extents_.size(); d-- > 0;) {
    const bool alone = extents_.size() == 1;
    const bool dropped = extents_[d] == 1 && !alone;
    const bool joined = !dropped && d + 1 < extents_.size() &&
                        std::ranges::all_of(inputs_, [&](const Input& input) {
                          return input.strides[d] == input.strides[d + 1] * extents_[d + 1];
                        });
    if (!dropped && !joined) {
      continue;
    }
    if (joined) {
      extents_[d + 1] *= extents_[d];
    }
    extents_.erase(extents_.begin() + static_cast<std::ptrdiff_t>(d));
    for (Input& input : inputs_) {
      input.strides.erase(input.strides.begin() + static_cast<std::ptrdiff_t>(d));
    }
  }
  if (extents_.empty()) {
    extents_.push_back(1);
    for (Input& input : inputs_) {
      input.strides.push_back(0);
    }
  }
}

void TilePass::choose_tile() {
  const std::int64_t row = extents_.back();
  const std::int64_t most = stages_.size() + inputs_.size() > 8 ? kTileElements / 2 : kTileElements;
  if (row <= most / 2 && extents_.size() > 1) {
    tile_rows_ = std::min(most / row, volume_ / row);
    tile_columns_ = row;
  } else {
    tile_columns_ = std::min(most, row);
  }
  for (Input& input : inputs_) {
    input.access = access_of(input);
    if (input.access == Access::kTransposed) {
      row_group_ = kTurnedRows;
    }
  }
  if (row_group_ > 1) {
    tile_columns_ = std::min(tile_columns_, kTileElements / 4);
  }
}

TilePass::Access TilePass::access_of(const Input& input) const {
  const std::size_t inner = extents_.size() - 1;
  bool in_place = true;
  bool outer_zero = true;
  std::int64_t stride = input.width;
  for (std::size_t d = extents_.size(); d-- > 0;) {
    in_place = in_place && (input.strides[d] == stride || extents_[d] == 1);
    outer_zero = outer_zero && (d == inner || input.strides[d] == 0);
    stride *= extents_[d];
  }
  if (in_place) {
    return Access::kInPlace;
  }
  if (outer_zero && (tile_rows_ > 1 || input.strides[inner] == 0)) {
    return Access::kOnce;
  }
  if (tile_rows_ > 1) {
    return Access::kRows;
  }
  if (input.strides[inner] == input.width) {
    return Access::kRow;
  }
  if (input.strides[inner] == 0) {
    return Access::kFill;
  }
  return inner > 0 && input.strides[inner - 1] == input.width ? Access::kTransposed : Access::kRows;
}

// What all its readers take as one element is not laid out for them.
void TilePass::find_lone() {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const auto takes_it = [i](const Stage& stage) {
      const std::uint32_t operands = operands_that_are(stage.spec, i);
      if (operands == 0 || !in_lanes(stage)) {
        return operands == 0 || (stage.spec.spreads && !stage.spec.widened);
      }
      return stage.dtypes[static_cast<std::size_t>(std::countr_zero(operands))] == DType::kF32;
    };
    const bool is_one = std::ranges::count(inputs_[i].strides, 0) == std::ssize(inputs_[i].strides);
    if (volume_ > 1 && (inputs_[i].access == Access::kFill || is_one) &&
        std::ranges::all_of(stages_, takes_it)) {
      inputs_[i].access = Access::kLone;
      for (Stage& stage : stages_) {
        stage.spec.call.lone |= operands_that_are(stage.spec, i);
      }
    }
  }
}

// The last stage that reads the result of each.
std::vector<std::size_t> TilePass::last_uses() const {
  std::vector<std::size_t> last_use(stages_.size());
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    last_use[s] = s;
    for (const std::int64_t operand : stages_[s].spec.operands) {
      if (operand < 0) {
        last_use[static_cast<std::size_t>(~operand)] = s;
      }
    }
  }
  return last_use;
}

// ---- stages that run together ------------------------------------------------------------------

bool TilePass::in_lanes(const Stage& stage) {
  const TileStage& spec = stage.spec;
  const bool is_narrow_call =
      is_narrow(spec.call.to) || std::ranges::any_of(stage.dtypes, is_narrow);
  return has_lanes(spec.lanes, stage.dtypes, spec.call.to) &&
         (!is_narrow_call || spec.widened || spec.lanes == LaneFn::kMove);
}

void TilePass::find_units() {
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const bool lanes = in_lanes(stages_[s]);
    if (lanes && !units_.empty() && units_.back().in_lanes) {
      units_.back().end = s + 1;
    } else {
      units_.push_back({.begin = s, .end = s + 1, .in_lanes = lanes, .reads = {}, .program = {}});
    }
    for (const std::int64_t operand : stages_[s].spec.operands) {
      if (operand >= 0) {
        inputs_[static_cast<std::size_t>(operand)].last_reader = s;
      }
    }
  }
  const std::vector<std::size_t> last_use = last_uses();
  for (const Unit& unit : units_) {
    for (std::size_t s = unit.begin; s < unit.end && unit.in_lanes; ++s) {
      stages_[s].leaves = stages_[s].spec.stored || last_use[s] >= unit.end;
    }
  }
}

// Whether memory is read upwards without a stop, which the hardware sees.
bool TilePass::is_stream() const {
  return units_.size() == 1 && units_.front().in_lanes;
}

// What needs no memory of its own for a tile has long ones.
void TilePass::widen_tile() {
  const auto lies_in_order = [](const Input& input) {
    return input.access == Access::kInPlace || input.access == Access::kRow ||
           input.access == Access::kLone;
  };
  if (is_stream() && tile_rows_ == 1 && std::ranges::all_of(inputs_, lies_in_order)) {
    tile_columns_ = std::min(checks_ ? kCheckedTileElements : kLongTileElements, extents_.back());
  }
}

// Which one of the unit's reads an operand from outside of it is.
std::int64_t TilePass::add_read(Unit& unit, std::int64_t operand, std::vector<LaneRead>& reads) {
  const auto known = std::ranges::find(unit.reads, operand);
  const std::int64_t index = known - unit.reads.begin();
  if (known != unit.reads.end()) {
    return index;
  }
  unit.reads.push_back(operand);
  if (operand < 0) {
    reads.push_back({.dtype = stages_[static_cast<std::size_t>(~operand)].spec.call.to});
    return index;
  }
  const Input& input = inputs_[static_cast<std::size_t>(operand)];
  reads.push_back({.dtype = input.dtype, .lone = input.access == Access::kLone});
  return index;
}

void TilePass::compile(Unit& unit) {
  if (!unit.in_lanes) {
    return;
  }
  std::vector<LaneStage> lanes;
  std::vector<LaneRead> reads;
  for (std::size_t s = unit.begin; s < unit.end; ++s) {
    const Stage& stage = stages_[s];
    LaneStage& lane = lanes.emplace_back();
    lane.fn = stage.spec.lanes;
    lane.to = stage.spec.call.to;
    lane.written = stage.leaves;
    lane.checked = stage.spec.checked;
    for (const std::int64_t operand : stage.spec.operands) {
      const bool inside = operand < 0 && static_cast<std::size_t>(~operand) >= unit.begin;
      lane.operands.push_back(inside ? operand + static_cast<std::int64_t>(unit.begin)
                                     : add_read(unit, operand, reads));
    }
  }
  unit.program.emplace_back(reads, lanes, stages_[unit.begin].spec.call.isa);
}

// Of all operands that are read where they are.
std::int64_t TilePass::bytes_in_place() const {
  std::int64_t bytes = 0;
  for (const Input& input : inputs_) {
    bytes += input.access == Access::kInPlace ? volume_ * input.width : 0;
  }
  return bytes;
}

// No place is larger than it has to be: places a page apart would displace one another.
void TilePass::place_scratch() {
  std::int64_t width = 1;
  for (const Input& input : inputs_) {
    width = std::max(width, input.width);
  }
  for (const Stage& stage : stages_) {
    width = std::max(width, stage.width);
  }
  const std::int64_t tile = aligned(tile_rows_ * tile_columns_ * width);
  for (Input& input : inputs_) {
    if (input.access > Access::kLone) {
      input.place = scratch_bytes_;
      scratch_bytes_ += tile * (input.access == Access::kTransposed ? kTurnedRows : 1);
    }
  }
  place_results(tile);
  lanes_place_ = scratch_bytes_;
  std::int64_t lanes_bytes = 0;
  for (const Unit& unit : units_) {
    lanes_bytes = std::max(lanes_bytes, unit.in_lanes ? unit.program.front().scratch_bytes() : 0);
  }
  scratch_bytes_ += lanes_bytes;
}

// Results that only later units read share places; a stored one keeps its own, for the case that
// it must not be written before the tile's operands are read.
void TilePass::place_results(std::int64_t tile) {
  const std::vector<std::size_t> last_use = last_uses();
  std::vector<std::int64_t> unused;
  for (const Unit& unit : units_) {
    for (std::size_t s = unit.begin; s < unit.end; ++s) {
      if (stages_[s].spec.stored || (stages_[s].leaves && unused.empty())) {
        stages_[s].place = std::exchange(scratch_bytes_, scratch_bytes_ + tile);
      } else if (stages_[s].leaves) {
        stages_[s].place = unused.back();
        unused.pop_back();
      }
    }
    for (std::size_t s = 0; s < unit.end; ++s) {
      if (last_use[s] >= unit.begin && last_use[s] < unit.end && stages_[s].leaves &&
          !stages_[s].spec.stored) {
        unused.push_back(stages_[s].place);
      }
    }
  }
}

}  // namespace mtf
