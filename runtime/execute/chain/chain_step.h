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
#include "ir/support/interval.h"
#include "lowering/spmd.h"
#include "runtime/execute/step_time.h"
#include "runtime/kernels/reduce/reduce_kernel.h"
#include "runtime/kernels/tile_engine.h"

namespace mtf {

struct PrepareContext;  // runtime/execute/executor_program.h
struct PreparedProgram;
struct Epilogue;
struct ResultRuns;
class RankKernel;
class FiniteWatch;

// What a thread works in.
struct BandScratch {
  Buffer between;                // what one pass over a band leaves to others
  std::vector<const void*> ins;  // of the pass in progress
  std::vector<void*> outs;
};

// What chains work in, shared by all those of an executor.
struct ChainScratch {
  Buffer parts;                    // what groups of bands leave of reductions of the leading dim
  std::vector<TileScratch> tiles;  // one for each thread of a rank
  std::vector<BandScratch> bands;  // and so here
  FiniteWatch* watch = nullptr;    // null: nobody looks
  bool timed = false;              // what is done in parts of a product

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
  // Some neighbours, of which one operand is elsewhere than in its place.
  struct Part {
    Interval elements;
    SpmdId of = {};
    const void* values = nullptr;  // of the first
  };

  // Whether it can be done in parts on what these kernels make, one for each local rank: where it
  // is one pass, in which element i of each tensor has to do with element i of any other.
  [[nodiscard]] bool has_parts(SpmdId of, const std::vector<RankKernel>& makers) const;
  void run_part(const PreparedProgram& prepared, std::size_t rank, const Part& part,
                ChainScratch& scratch, std::size_t thread) const;

  // What an operand may be left as; only where it can be done in parts.
  void read_runs(std::shared_ptr<const ResultRuns> runs) { runs_.push_back(std::move(runs)); }
  // To a product before it, which may have done all that there is to do.
  void leave_to(std::shared_ptr<const Epilogue> epilogue) { left_to_ = std::move(epilogue); }
  // When it was done there, if it was.
  [[nodiscard]] std::optional<TimeSpan> done_before(std::size_t rank) const;

 private:
  friend class ChainSketch;

  // Where a pass reads or writes a tensor.
  struct Place {
    SpmdId value;                       // in memory, or
    std::int64_t between = -1;          // so many bytes from the begin of BandScratch::between
    std::vector<std::int64_t> strides;  // bytes per index of each common dim; of `value`
    std::int64_t per_band = 0;          // bytes per band of a group; of `between`
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
  // A reduction of the leading dim, of a group of bands.
  struct Column {
    Place from;  // where the group begins
    std::shared_ptr<const ReductionPlan> plan;
    SpmdId whole = {};                  // the result itself, if groups have one part of it each
    std::int64_t part = 0;              // or bytes from the begin of ChainScratch::parts, and more
    std::vector<std::int64_t> strides;  // from one group to the next along each dim
  };
  struct Passes {
    std::vector<Pass> bands;      // over each band of a group
    std::vector<Column> columns;  // over the group
  };
  // What joins the parts that all groups leave.
  struct ColumnEnd {
    const LocalCall* call = nullptr;
    std::shared_ptr<const ReductionPlan> plan;  // null: there is nothing to join
    std::int64_t part = 0;
    Shape made;
  };
  // The slices of one rank, or of all local ones.
  struct OnRank {
    std::vector<std::int64_t> extents;  // of the common dims, up to the one that is cut
    std::int64_t rows = 1;              // of that one in a band
    std::int64_t outer = 1;             // bands of a group, one behind the other in dim 0
    Passes whole;                       // over a group
    Passes rest;                        // over the last one, where its bands are smaller
    std::vector<ColumnEnd> ends;
    std::int64_t between_bytes = 0;
    std::int64_t part_bytes = 0;
    int threads = 1;  // that groups are worth

    // Indices of a dim in a group.
    [[nodiscard]] std::int64_t step_along(std::size_t dim) const {
      return dim + 1 == extents.size() ? rows : (dim == 0 ? outer : 1);
    }
    [[nodiscard]] std::int64_t groups_along(std::size_t dim) const;
    [[nodiscard]] std::int64_t groups() const;
    // Where a group begins.
    [[nodiscard]] std::vector<std::int64_t> begin_of(std::int64_t group) const;
  };

  // What a run of groups works in.
  struct Work {
    const PreparedProgram& prepared;
    std::size_t rank = 0;
    std::span<TileScratch> tiles;
    BandScratch& scratch;
    std::byte* parts = nullptr;
    FiniteWatch* watch = nullptr;
    std::vector<std::int64_t> at = {};  // where the band in progress begins, along the common dims
    std::int64_t band = 0;              // and its number in its group

    [[nodiscard]] std::byte* address(const Place& place) const;
  };

  static void run_band(const std::vector<Pass>& passes, const Work& work);
  // Of the group that work.at is the begin of.
  static void reduce_group(const OnRank& here, const std::vector<Column>& columns,
                           const Work& work);
  static void run_groups(const OnRank& here, Interval groups, Work work);
  static void make_room(const OnRank& here, std::int64_t threads, ChainScratch& scratch);
  static void join_parts(const OnRank& here, const PreparedProgram& prepared, std::size_t rank,
                         ChainScratch& scratch);

  std::vector<OnRank> ranks_;
  [[nodiscard]] const OnRank& on(std::size_t rank) const {
    return ranks_[ranks_.size() == 1 ? 0 : rank];
  }

  [[nodiscard]] const ResultRuns* runs_of(std::size_t rank, SpmdId id) const;
  void run_parts(const PreparedProgram& prepared, std::size_t rank, ChainScratch& scratch) const;

  std::shared_ptr<const Epilogue> left_to_;  // null: nothing is
  std::vector<std::shared_ptr<const ResultRuns>> runs_;
};

}  // namespace mtf
