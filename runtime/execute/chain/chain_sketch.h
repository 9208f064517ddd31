// A chain made ready for one rank: its passes over a band of so many rows, and where each of them
// reads and writes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "lowering/steps/bands.h"
#include "runtime/execute/chain/chain_step.h"
#include "runtime/execute/executor_program.h"

namespace mtf {

class ChainSketch {
 public:
  ChainSketch(const SpmdProgram& program, const Step& step, const PrepareContext& context,
              std::size_t index);

  [[nodiscard]] ChainStep::OnRank finished() &&;

 private:
  [[nodiscard]] Shape slice_shape(SpmdId id) const;
  // Of what is computed here, or read as it is by a reduction.
  [[nodiscard]] Shape band_shape(SpmdId id) const;
  ChainStep::Passes passes_over(std::int64_t rows);

  // ---- where tensors are ----

  // Along the dims `d` of a value that the bands run over, wherever it has them.
  [[nodiscard]] ChainStep::Place place_of(SpmdId id, std::span<const std::int64_t> along) const;
  // What is computed in the chain, or read by a reduction, has the common dims in front.
  [[nodiscard]] ChainStep::Place place_of(SpmdId id) const;
  ChainStep::Place place_of_result(SpmdId id);
  [[nodiscard]] std::int64_t bytes_per_band(SpmdId id) const;

  // ---- passes ----

  ChainStep::Pass reduction(const LocalCall& call);
  [[nodiscard]] TensorView view_of(SpmdId id) const;
  // `later`: the calls behind them.
  ChainStep::Pass tiles(std::span<const LocalCall* const> calls,
                        std::span<const LocalCall* const> later);
  [[nodiscard]] TileStage stage_of(const LocalCall& call,
                                   std::span<const LocalCall* const> later) const;

  // ---- reductions of the leading dim ----

  // Indices of a dim of the operand in a group.
  [[nodiscard]] std::int64_t extent_in_group(std::size_t dim, std::int64_t whole) const;
  // Elements from one index of a dim to the next where the operand lies.
  [[nodiscard]] std::vector<std::int64_t> strides_in_group(SpmdId id) const;
  [[nodiscard]] ChainStep::Column column(const LocalCall& call, std::int64_t part) const;
  [[nodiscard]] std::int64_t groups_along(std::size_t dim) const;
  [[nodiscard]] static bool is_kept(const LocalCall& call, std::size_t dim);
  [[nodiscard]] std::int64_t parts_of(const LocalCall& call) const;
  [[nodiscard]] std::int64_t part_bytes(const LocalCall& call) const;
  void find_ends(ChainStep::OnRank& here) const;

  const SpmdProgram& program_;
  const PrepareContext& context_;
  std::size_t index_;
  std::int64_t rank_;
  Chain calls_;    // in the order of the program, without
  Chain columns_;  // the reductions of the leading dim, which come last
  std::size_t dims_ = 0;
  Bands bands_;
  int threads_ = 1;
  std::vector<std::int64_t> extents_;            // of the common dims, up to the one that is cut
  std::int64_t rows_ = 1;                        // of that one in the band
  std::map<std::size_t, std::int64_t> between_;  // per value
  std::int64_t place_ = 0;                       // of the next one
  std::int64_t between_bytes_ = 0;               // of any group
};

}  // namespace mtf
