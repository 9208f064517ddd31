// The plan of a pass: which dims act as one, how large a tile is, how each operand is read.

#include "runtime/kernels/tile_engine.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mtf {
namespace {

constexpr std::int64_t kTileElements = 1024;
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
  volume_ = std::accumulate(extents_.begin(), extents_.end(), std::int64_t{1}, std::multiplies<>());
  if (volume_ > 0) {
    merge_dims();
    choose_tile();
    find_lone();
    place_scratch();
    prefetches_ = row_group_ == 1 && bytes_in_place() > kNearBytes;
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
      return operands_that_are(stage.spec, i) == 0 || (stage.spec.spreads && !stage.spec.widened);
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
}

// Results that only later stages read share places; a stored one keeps its own, for the case that
// it must not be written before the tile's operands are read.
void TilePass::place_results(std::int64_t tile) {
  const std::vector<std::size_t> last_use = last_uses();
  std::vector<std::int64_t> unused;
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    if (stages_[s].spec.stored || unused.empty()) {
      stages_[s].place = std::exchange(scratch_bytes_, scratch_bytes_ + tile);
    } else {
      stages_[s].place = unused.back();
      unused.pop_back();
    }
    for (std::size_t before = 0; before <= s; ++before) {
      if (last_use[before] == s && !stages_[before].spec.stored) {
        unused.push_back(stages_[before].place);
      }
    }
  }
}

}  // namespace mtf
