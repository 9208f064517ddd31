// The pass itself.

#include <algorithm>
#include <cstring>
#include <deque>
#include <latch>

#include "runtime/kernels/finite.h"
#include "runtime/kernels/thread_team.h"
#include "runtime/kernels/tile_engine.h"
#include "runtime/vector_math/narrow.h"

namespace mtf {
namespace {

constexpr std::int64_t kLine = 64;                 // bytes of a line of the caches
constexpr std::int64_t kThreadedWork = 1LL << 18;  // elements of stages; below, waking takes longer

// Says at its end that a part is done, whatever became of it.
class Finally {
 public:
  explicit Finally(std::latch& done) : done_(done) {}
  ~Finally() { done_.count_down(); }
  Finally(const Finally&) = delete;
  Finally& operator=(const Finally&) = delete;
  Finally(Finally&&) = delete;
  Finally& operator=(Finally&&) = delete;

 private:
  std::latch& done_;
};

// Calls f(T{}) with an unsigned type of that many bytes.
template <typename F>
void with_width(std::int64_t width, F&& f) {
  if (width == 4) {
    f(std::uint32_t{});
  } else if (width == 8) {
    f(std::uint64_t{});
  } else if (width == 2) {
    f(std::uint16_t{});
  } else {
    f(std::uint8_t{});
  }
}

// `count` elements, `stride` bytes apart, behind each other.
void take_strided(std::int64_t width, const std::byte* from, std::int64_t stride,
                  std::int64_t count, std::byte* to) {
  if (stride == width) {
    std::memcpy(to, from, static_cast<std::size_t>(count * width));
    return;
  }
  with_width(width, [&](auto zero) {
    using T = decltype(zero);
    T* out = reinterpret_cast<T*>(to);
    if (stride == 0) {
      std::fill_n(out, count, *reinterpret_cast<const T*>(from));
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      out[i] = *reinterpret_cast<const T*>(from + i * stride);
    }
  });
}

// Rows of one element each, `stride` bytes apart, `count` times that element.
void fill_rows(std::int64_t width, const std::byte* from, std::int64_t stride, std::int64_t rows,
               std::int64_t count, std::byte* to) {
  with_width(width, [&](auto zero) {
    using T = decltype(zero);
    T* out = reinterpret_cast<T*>(to);
    for (std::int64_t row = 0; row < rows; ++row) {
      std::fill_n(out, count, *reinterpret_cast<const T*>(from + row * stride));
      out += count;
    }
  });
}

// Where an operand of a stage is, in the tile in progress.
const std::byte* operand(std::int64_t of, const TileScratch& scratch) {
  return of >= 0 ? scratch.inputs[static_cast<std::size_t>(of)]
                 : scratch.results[static_cast<std::size_t>(~of)];
}

}  // namespace

std::int64_t TilePass::row_offset(const Input& input, std::int64_t row) const {
  std::int64_t offset = 0;
  for (std::size_t d = extents_.size() - 1; d-- > 0;) {
    offset += row % extents_[d] * input.strides[d];
    row /= extents_[d];
  }
  return offset;
}

void TilePass::load_rows(const Input& input, const std::byte* data, const Tile& tile,
                         std::byte* place) const {
  const std::size_t rows_dim = extents_.size() < 2 ? 0 : extents_.size() - 2;
  const std::int64_t step = input.strides.back();
  for (std::int64_t i = 0; i < tile.rows;) {
    const std::int64_t row = tile.row + i;
    const std::byte* from = data + row_offset(input, row) + tile.column * step;
    const std::int64_t end = std::min(tile.rows, i + extents_[rows_dim] - row % extents_[rows_dim]);
    if (step == 0) {
      const std::int64_t rows = end - i;
      fill_rows(input.width, from, input.strides[rows_dim], rows, tile.columns, place);
      place += rows * tile.columns * input.width;
      i = end;
    }
    for (; i < end; ++i) {
      take_strided(input.width, from, step, tile.columns, place);
      from += input.strides[rows_dim];
      place += tile.columns * input.width;
    }
  }
}

// The rows of a group lie behind each other in memory, element by element.
void TilePass::load_turned(const Input& input, const std::byte* data, const Tile& tile,
                           std::byte* place) const {
  const std::int64_t step = input.strides.back();
  const std::byte* from = data + row_offset(input, tile.group_row) + tile.column * step;
  with_width(input.width, [&](auto zero) {
    using T = decltype(zero);
    T* out = reinterpret_cast<T*>(place);
    for (std::int64_t column = 0; column < tile.columns; ++column) {
      const T* in = reinterpret_cast<const T*>(from + column * step);
      for (std::int64_t row = 0; row < tile.group_rows; ++row) {
        out[row * tile.columns + column] = in[row];
      }
    }
  });
}

// Where the tile of an operand is to be read.
const std::byte* TilePass::load(const Input& input, const std::byte* data, const Tile& tile,
                                std::byte* memory) const {
  std::byte* place = memory + input.place;
  switch (input.access) {
    case Access::kInPlace:
      return data + (tile.row * extents_.back() + tile.column) * input.width;
    case Access::kRow:
      return data + row_offset(input, tile.row) + tile.column * input.width;
    case Access::kLone:
      return data + row_offset(input, tile.row);
    case Access::kOnce:
      if (tile.first) {
        load_rows(input, data, tile, place);
      }
      return place;
    case Access::kFill:
    case Access::kRows:
      load_rows(input, data, tile, place);
      return place;
    case Access::kTransposed:
      break;
  }
  if (tile.row == tile.group_row) {
    load_turned(input, data, tile, place);
  }
  return place + (tile.row - tile.group_row) * tile.columns * input.width;
}

// Asks for what the tile that begins at `next` reads, a part before each unit, so that it comes
// while this tile is in work: such tiles are too short for the hardware to see a stream. Inlined,
// as a function that does nothing else has no effect that a compiler would keep.
[[gnu::always_inline]] inline void TilePass::prefetch_next(std::span<const void* const> inputs,
                                                           std::int64_t next,
                                                           std::size_t unit) const {
  if (!prefetches_) {
    return;
  }
  const auto stages = static_cast<std::int64_t>(units_.size());
  const auto part = static_cast<std::int64_t>(unit);
  const std::int64_t size = std::min(tile_rows_ * tile_columns_, volume_ - next);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].access != Access::kInPlace) {
      continue;
    }
    const std::byte* from = static_cast<const std::byte*>(inputs[i]) + next * inputs_[i].width;
    const std::int64_t lines = (size * inputs_[i].width + kLine - 1) / kLine;
    for (std::int64_t line = part * lines / stages; line < (part + 1) * lines / stages; ++line) {
      __builtin_prefetch(from + line * kLine);
    }
  }
}

// Whether the result of a stage is wanted where an operand is that is still read. Calls in
// registers read an element before they write it; others make no such promise. What is checked
// may have to be done again.
bool TilePass::writes_over(std::size_t s, std::span<const void* const> inputs,
                           const TileScratch& scratch) const {
  const bool in_registers = in_lanes(stages_[s]) && !checks_;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == scratch.outputs[s] && (!in_registers || inputs_[i].last_reader > s)) {
      return true;
    }
  }
  return false;
}

void TilePass::run_stage(const Stage& stage, std::byte* result, std::size_t n,
                         TileScratch& scratch) {
  scratch.operands.clear();
  for (const std::int64_t of : stage.spec.operands) {
    scratch.operands.push_back(operand(of, scratch));
  }
  if (stage.spec.widened) {
    run_widened(stage.spec.tile, stage.spec.call, stage.dtypes, scratch.operands, result, n);
  } else {
    stage.spec.tile(stage.spec.call, scratch.operands, result, n);
  }
}

bool TilePass::run_lanes(const Unit& unit, std::size_t n, TileScratch& scratch) const {
  scratch.places.clear();
  for (const std::int64_t of : unit.reads) {
    scratch.places.push_back(const_cast<std::byte*>(operand(of, scratch)));
  }
  for (std::size_t s = unit.begin; s < unit.end; ++s) {
    if (stages_[s].leaves) {
      scratch.places.push_back(scratch.results[s]);
    }
  }
  return unit.program.front().run(scratch.places, n, scratch.memory.data() + lanes_place_);
}

// Whether what is checked is finite.
bool TilePass::run_unit(const Unit& unit, std::size_t n, TileScratch& scratch) const {
  if (unit.in_lanes) {
    return run_lanes(unit, n, scratch);
  }
  const Stage& stage = stages_[unit.begin];
  run_stage(stage, scratch.results[unit.begin], n, scratch);
  return !stage.spec.checked ||
         all_finite(stage.spec.call.to, scratch.results[unit.begin], static_cast<std::int64_t>(n));
}

// Does all stages of a tile once more, one by one, each where nothing writes over it.
void TilePass::show(std::int64_t begin, std::int64_t n, TileScratch& scratch,
                    const TileLook& look) const {
  constexpr std::int64_t kWidest = 8;
  const std::int64_t bytes = n * kWidest;
  const auto places = static_cast<std::int64_t>(inputs_.size() + stages_.size());
  if (scratch.shown.bytes() < bytes * places) {
    scratch.shown = Buffer();
    scratch.shown = scratch.pool->take(bytes * places);
  }
  std::byte* place = scratch.shown.data();
  for (std::size_t i = 0; i < inputs_.size(); ++i, place += bytes) {
    if (inputs_[i].access == Access::kLone) {
      fill_rows(inputs_[i].width, scratch.inputs[i], 0, 1, n, place);
      scratch.inputs[i] = place;
    }
  }
  for (std::size_t s = 0; s < stages_.size(); ++s, place += bytes) {
    Stage stage = stages_[s];
    stage.spec.call.lone = 0;
    scratch.results[s] = place;
    run_stage(stage, place, static_cast<std::size_t>(n), scratch);
    look(s, place, begin, n);
  }
}

void TilePass::run_tile(std::span<const void* const> inputs, const Tile& tile, TileScratch& scratch,
                        const TileLook& look) const {
  std::byte* memory = scratch.memory.data();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    scratch.inputs[i] = load(inputs_[i], static_cast<const std::byte*>(inputs[i]), tile, memory);
  }
  const std::int64_t begin = tile.row * extents_.back() + tile.column;
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    scratch.results[s] = scratch.direct[s] ? scratch.outputs[s] + begin * stages_[s].width
                                           : memory + stages_[s].place;
  }
  const auto n = static_cast<std::size_t>(tile.size());
  bool finite = true;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    prefetch_next(inputs, begin + tile.size(), u);
    finite = run_unit(units_[u], n, scratch) && finite;
  }
  if (!finite) {
    show(begin, tile.size(), scratch, look);
  }
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    if (scratch.outputs[s] != nullptr && !scratch.direct[s]) {
      std::memcpy(scratch.outputs[s] + begin * stages_[s].width, scratch.results[s],
                  static_cast<std::size_t>(tile.size() * stages_[s].width));
    }
  }
}

void TilePass::start(std::span<const void* const> inputs, std::span<void* const> outputs,
                     TileScratch& scratch) const {
  if (scratch.memory.bytes() < scratch_bytes_) {
    scratch.memory = Buffer();
    scratch.memory = scratch.pool->take(scratch_bytes_);
  }
  scratch.inputs.assign(inputs_.size(), nullptr);
  scratch.results.assign(stages_.size(), nullptr);
  scratch.outputs.assign(stages_.size(), nullptr);
  scratch.direct.assign(stages_.size(), false);
  std::size_t stored = 0;
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    if (stages_[s].spec.stored) {
      scratch.outputs[s] = static_cast<std::byte*>(outputs[stored++]);
      scratch.direct[s] = !writes_over(s, inputs, scratch);
    }
  }
}

// Groups of rows; in a group, column by column of tiles, so that rows turned together are used
// while they are in the cache. A tile of several rows is a group of its own.
void TilePass::run_range(std::span<const void* const> inputs, const Range& range,
                         TileScratch& scratch, const TileLook& look) const {
  const bool whole_rows = tile_rows_ > 1;
  const std::int64_t turning = extents_.size() > 1 ? extents_[extents_.size() - 2] : 1;
  Tile tile;
  tile.group_row = range.rows.begin;
  while (tile.group_row < range.rows.end()) {
    const std::int64_t rows = range.rows.end() - tile.group_row;
    tile.group_rows = std::min(
        rows, whole_rows ? tile_rows_ : std::min(row_group_, turning - tile.group_row % turning));
    tile.rows = whole_rows ? tile.group_rows : 1;
    const std::int64_t end = tile.group_row + tile.group_rows;
    for (tile.column = range.columns.begin; tile.column < range.columns.end();
         tile.column += tile_columns_) {
      tile.columns = std::min(tile_columns_, range.columns.end() - tile.column);
      for (tile.row = tile.group_row; tile.row < end; tile.row += tile.rows) {
        run_tile(inputs, tile, scratch, look);
        tile.first = false;
      }
    }
    tile.group_row = end;
  }
}

// Rows in whole groups, or columns in whole tiles where there are few rows.
TilePass::Range TilePass::part_of(std::int64_t part, std::int64_t parts) const {
  const auto cut = [part, parts](std::int64_t extent, std::int64_t unit) {
    const std::int64_t units = (extent + unit - 1) / unit;
    return from_to(std::min(part * units / parts * unit, extent),
                   std::min((part + 1) * units / parts * unit, extent));
  };
  const std::int64_t columns = extents_.back();
  const std::int64_t rows = volume_ / columns;
  const std::int64_t group = tile_rows_ > 1 ? tile_rows_ : row_group_;
  if (rows >= parts * group) {
    return {.rows = cut(rows, group), .columns = from_to(0, columns)};
  }
  return {.rows = from_to(0, rows), .columns = cut(columns, tile_columns_)};
}

std::size_t TilePass::threads_of(std::size_t most) const {
  return volume_ * static_cast<std::int64_t>(stages_.size()) < kThreadedWork ? 1 : most;
}

void TilePass::run_part(std::span<const void* const> inputs, std::span<void* const> outputs,
                        Interval elements, TileScratch& scratch) const {
  start(inputs, outputs, scratch);
  run_range(inputs, {.rows = from_to(0, 1), .columns = elements}, scratch, {});
}

void TilePass::run(std::span<const void* const> inputs, std::span<void* const> outputs,
                   std::span<TileScratch> scratches, const TileLook& look) const {
  if (volume_ == 0) {
    return;
  }
  const auto parts = static_cast<std::int64_t>(threads_of(scratches.size()));
  for (std::int64_t i = 0; i < parts; ++i) {
    start(inputs, outputs, scratches[static_cast<std::size_t>(i)]);
  }
  if (parts == 1) {
    return run_range(inputs, part_of(0, 1), scratches.front(), look);
  }
  std::deque<std::latch> done;
  for (std::int64_t i = 0; i < parts; ++i) {
    done.emplace_back(1);
  }
  run_on_team(static_cast<int>(parts), [&](int part) {
    const auto mine = static_cast<std::size_t>(part);
    const Finally finally{done[mine]};
    const TileLook in_turn = [&](std::size_t stage, const void* data, std::int64_t begin,
                                 std::int64_t count) {
      for (std::size_t before = 0; before < mine; ++before) {
        done[before].wait();
      }
      look(stage, data, begin, count);
    };
    run_range(inputs, part_of(part, parts), scratches[mine], in_turn);
  });
}

}  // namespace mtf
