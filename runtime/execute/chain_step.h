// A chain of element-wise calls and reductions made ready for the local ranks: passes over bands of
// the tensors (lowering/steps/bands.h), or one pass over all of them where nothing is reduced.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ir/kernel.h"
#include "lowering/spmd.h"
#include "runtime/kernels/tile_engine.h"

namespace mtf {

struct PrepareContext;  // runtime/execute/executor_program.h
struct PreparedProgram;
class FiniteWatch;

// What chains work in, shared by all those of an executor.
struct ChainScratch {
  std::vector<TileScratch> tiles;  // one for each thread of a rank
  Buffer between;                  // what one pass over a band leaves to others
  std::vector<const void*> ins;    // of the pass in progress
  std::vector<void*> outs;
  FiniteWatch* watch = nullptr;  // null: nobody looks

  void work_in(BufferPool& pool, int threads) {
    for (int thread = 0; thread < threads; ++thread) {
      tiles.push_back({.pool = &pool});
    }
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
    std::unique_ptr<KernelCall> call;  // or a reduction; refers to the next two
    std::vector<TensorView> in;
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
  };

  static void run_band(std::vector<Pass>& passes, const PreparedProgram& prepared, std::size_t rank,
                       const std::vector<std::int64_t>& at, ChainScratch& scratch);

  std::vector<OnRank> ranks_;
};

}  // namespace mtf
