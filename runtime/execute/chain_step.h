// A chain of element-wise calls and reductions made ready for the local ranks: passes over bands of
// the tensors (lowering/steps/bands.h), or one pass over all of them where nothing is reduced.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ir/kernel.h"
#include "lowering/spmd.h"
#include "runtime/kernels/tile_engine.h"

namespace mtf {

struct PrepareContext;  // runtime/execute/executor_program.h
struct PreparedProgram;
class FiniteWatch;

// What a thread works in.
struct BandScratch {
  Buffer between;                // what one pass over a band leaves to others
  std::vector<const void*> ins;  // of the pass in progress
  std::vector<void*> outs;
};

// What chains work in, shared by all those of an executor.
struct ChainScratch {
  std::vector<TileScratch> tiles;  // one for each thread of a rank
  std::vector<BandScratch> bands;  // and so here
  FiniteWatch* watch = nullptr;    // null: nobody looks

  void work_in(BufferPool& pool, int threads) {
    for (int thread = 0; thread < threads; ++thread) {
      tiles.push_back({.pool = &pool});
    }
    bands.resize(tiles.size());
  }
};

class ChainStep {
 public:
  ChainStep(const SpmdProgram& program, const Step& step, const PrepareContext& context);

  void run(const PreparedProgram& prepared, std::size_t rank, ChainScratch& scratch);

 private:
  friend class ChainSketch;

  // Where a pass reads or writes a tensor.
  struct Place {
    SpmdId value;                       // in memory, or
    std::int64_t between = -1;          // so many bytes from the begin of ChainScratch::between
    std::vector<std::int64_t> strides;  // bytes per index of each common dim; of `value`
  };
  struct Pass {
    std::optional<TilePass> tiles;
    std::unique_ptr<KernelCall> call;  // or a reduction, of `in`; refers to the shares
    TensorView in;
    std::vector<LoopShare> shares;
    std::vector<Place> inputs;
    std::vector<Place> outputs;
    std::vector<const LocalCall*> calls;  // whose results are looked at, if anybody looks
    Shape made;                           // of each result, in the band
  };
  // The slices of one rank, or of all local ones.
  struct OnRank {
    std::vector<std::int64_t> extents;  // of the common dims, up to the one that is cut
    std::int64_t rows = 1;              // of that one in a band
    std::vector<Pass> whole;            // over a band
    std::vector<Pass> rest;             // over the last band, where it is smaller
    std::int64_t between_bytes = 0;
    int threads = 1;  // that bands are worth

    // Indices of a dim in a band.
    [[nodiscard]] std::int64_t step_along(std::size_t dim) const {
      return dim + 1 == extents.size() ? rows : 1;
    }
    [[nodiscard]] std::int64_t bands_along(std::size_t dim) const;
    [[nodiscard]] std::int64_t bands() const;
    // Where a band begins.
    [[nodiscard]] std::vector<std::int64_t> begin_of(std::int64_t band) const;
  };

  // What a run of bands works in.
  struct Work {
    const PreparedProgram& prepared;
    std::size_t rank = 0;
    std::span<TileScratch> tiles;
    BandScratch& scratch;
    FiniteWatch* watch = nullptr;
  };

  static void run_band(const std::vector<Pass>& passes, const std::vector<std::int64_t>& at,
                       const Work& work);
  static void run_bands(const OnRank& here, Interval bands, const Work& work);

  std::vector<OnRank> ranks_;
};

}  // namespace mtf
