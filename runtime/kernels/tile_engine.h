// Element-wise chains in one pass: each tile of the result goes through all calls while it is in
// the first-level cache, so intermediate values never reach memory; through calls with LaneFn that
// follow each other in registers.
//
// Operands that lie as the result does are read in place; others (scalars, broadcast dims, another
// dim order) are first laid out for the tile.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ir/op.h"
#include "ir/support/interval.h"
#include "runtime/execute/buffer.h"
#include "runtime/kernels/lanes/lanes.h"

namespace mtf {

// An operand from outside the chain: element strides along the dims of the result, 0 where it lacks
// one.
struct TileInput {
  DType dtype = DType::kF32;
  std::vector<std::int64_t> strides;
};

// One call. Operands: input i is i, the result of stage s is ~s.
struct TileStage {
  TileFn tile = nullptr;
  LaneFn lanes = LaneFn::kNone;
  TileCall call;
  std::vector<std::int64_t> operands;
  bool spreads = false;  // takes operands with one element for a run
  bool widened = false;  // runs in the wide dtypes (runtime/vector_math/narrow.h)
  bool stored = false;   // its result is wanted in memory; otherwise only later stages read it
  bool checked = false;  // to be finite
};

// Is shown what a stage makes, from element `begin` of the result on.
using TileLook = std::function<void(std::size_t stage, const void* data, std::int64_t begin,
                                    std::int64_t count)>;

// What passes work in, shared by all passes of an executor.
struct TileScratch {
  BufferPool* pool = nullptr;
  Buffer memory = {};
  std::vector<const void*> operands = {};     // of the call in progress
  std::vector<std::byte*> results = {};       // per stage, of the tile in progress
  std::vector<std::byte*> outputs = {};       // per stage, whole; null: not stored
  std::vector<bool> direct = {};              // per stage: computed in its output
  std::vector<const std::byte*> inputs = {};  // per input, of the tile in progress
  std::vector<std::byte*> places = {};        // of the lanes in progress
  Buffer shown = {};                          // what all stages make of a tile
};

class TilePass {
 public:
  TilePass(std::vector<std::int64_t> extents, const std::vector<TileInput>& inputs,
           std::vector<TileStage> stages);

  // `outputs`: one per stored stage, in order. An output may be an input that lies as it does.
  // `look`: is shown all that stages make of a tile where something that is checked is not finite.
  void run(std::span<const void* const> inputs, std::span<void* const> outputs,
           TileScratch& scratch, const TileLook& look = {}) const {
    run(inputs, outputs, {&scratch, 1}, look);
  }
  // On as many threads as there are scratches, where it is worth it. What is shown is so in order,
  // one at a time.
  void run(std::span<const void* const> inputs, std::span<void* const> outputs,
           std::span<TileScratch> scratches, const TileLook& look) const;

  [[nodiscard]] std::int64_t volume() const { return volume_; }
  // On how many threads it is worth doing, of so many.
  [[nodiscard]] std::size_t threads_of(std::size_t most) const;
  // Whether parts of it can be done that have some neighbours of an input: where this one lies as
  // the result does, and each other one, too, or has one element for all.
  [[nodiscard]] bool has_parts(std::size_t input) const {
    return extents_.size() == 1 && inputs_[input].access == Access::kInPlace;
  }
  // These elements of the result alone. Addresses are those of whole tensors.
  void run_part(std::span<const void* const> inputs, std::span<void* const> outputs,
                Interval elements, TileScratch& scratch) const;

 private:
  enum class Access : std::uint8_t {
    kInPlace,     // lies in the order of the result
    kRow,         // inner dim in order: read in place from its row
    kLone,        // one element for the row, or for all, read in place by stages that spread it
    kOnce,        // the same for all tiles; it and the rest are laid out for the tile
    kFill,        // one element per row
    kRows,        // put together row by row
    kTransposed,  // inner dim strided, the next one in order: turned in blocks
  };
  struct Input {
    DType dtype = DType::kF32;
    std::int64_t width = 4;
    std::vector<std::int64_t> strides;  // in bytes, along the merged dims
    Access access = Access::kInPlace;
    std::int64_t place = 0;  // of its tile in the scratch memory
    std::size_t last_reader = 0;
  };
  struct Stage {
    TileStage spec;
    std::vector<DType> dtypes;  // of the operands
    std::int64_t width = 4;
    std::int64_t place = 0;
    bool leaves = true;  // the registers, if it is computed there
  };
  // Stages that run together: one, or several in registers.
  struct Unit {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool in_lanes = false;
    std::vector<std::int64_t> reads;   // as operands of a stage
    std::vector<LaneProgram> program;  // one, in registers
  };
  struct Tile {
    std::int64_t row = 0;
    std::int64_t rows = 1;
    std::int64_t column = 0;
    std::int64_t columns = 1;
    std::int64_t group_row = 0;  // first row of the group that is turned together
    std::int64_t group_rows = 1;
    bool first = true;  // of the pass

    [[nodiscard]] std::int64_t size() const { return rows * columns; }
  };

  // What one thread does.
  struct Range {
    Interval rows;
    Interval columns;
  };

  void merge_dims();
  void choose_tile();
  [[nodiscard]] Access access_of(const Input& input) const;
  void find_lone();
  [[nodiscard]] static bool in_lanes(const Stage& stage);
  std::int64_t add_read(Unit& unit, std::int64_t operand, std::vector<LaneRead>& reads);
  void find_units();
  [[nodiscard]] bool is_stream() const;
  void widen_tile();
  void compile(Unit& unit);
  [[nodiscard]] std::int64_t bytes_in_place() const;
  void place_scratch();
  void place_results(std::int64_t tile);
  [[nodiscard]] std::vector<std::size_t> last_uses() const;
  [[nodiscard]] std::int64_t row_offset(const Input& input, std::int64_t row) const;
  const std::byte* load(const Input& input, const std::byte* data, const Tile& tile,
                        std::byte* memory) const;
  void load_rows(const Input& input, const std::byte* data, const Tile& tile,
                 std::byte* place) const;
  void load_turned(const Input& input, const std::byte* data, const Tile& tile,
                   std::byte* place) const;
  void prefetch_next(std::span<const void* const> inputs, std::int64_t next,
                     std::size_t unit) const;
  [[nodiscard]] bool writes_over(std::size_t s, std::span<const void* const> inputs,
                                 const TileScratch& scratch) const;
  static void run_stage(const Stage& stage, std::byte* result, std::size_t n, TileScratch& scratch);
  [[nodiscard]] bool run_unit(const Unit& unit, std::size_t n, TileScratch& scratch) const;
  [[nodiscard]] bool run_lanes(const Unit& unit, std::size_t n, TileScratch& scratch) const;
  void run_tile(std::span<const void* const> inputs, const Tile& tile, TileScratch& scratch,
                const TileLook& look) const;
  void show(std::int64_t begin, std::int64_t n, TileScratch& scratch, const TileLook& look) const;
  void start(std::span<const void* const> inputs, std::span<void* const> outputs,
             TileScratch& scratch) const;
  [[nodiscard]] Range part_of(std::int64_t part, std::int64_t parts) const;
  void run_range(std::span<const void* const> inputs, const Range& range, TileScratch& scratch,
                 const TileLook& look) const;

  std::vector<std::int64_t> extents_;  // merged; the last is a row
  std::vector<Input> inputs_;
  std::vector<Stage> stages_;
  std::vector<Unit> units_;
  std::int64_t volume_ = 1;
  std::int64_t tile_rows_ = 1;  // more than one: whole rows
  std::int64_t tile_columns_ = 1;
  std::int64_t row_group_ = 1;
  bool prefetches_ =
      false;  // the next tile's operands, which neither a near cache has nor the hardware sees
  bool checks_ = false;  // some stage is checked
  std::int64_t scratch_bytes_ = 0;
  std::int64_t lanes_place_ = 0;  // where programs of lanes work, in the scratch memory
};

}  // namespace mtf
