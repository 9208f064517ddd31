// Products that are handed to the chain behind them where they are made, band by band.
//
// Where a chain that goes element by element is all that reads a product, it runs on each band of
// the product while that is in a near cache, and the product never reaches memory: its place in the
// plan stays untouched. What the chain reads and writes besides then comes and goes between one
// band's arithmetic and the next one's, so that ranks which share a memory seldom wait for it at
// the same time. Each operation is the chain's, so the bits are the same. Nothing that the steps
// between the two read or make may lie where the chain writes.

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/execute/kernel/readers.h"
#include "runtime/execute/step_time.h"

namespace mtf {

struct PrepareContext;  // runtime/execute/executor_program.h
struct PreparedProgram;

struct Epilogue {
  std::size_t chain = 0;          // step
  std::vector<SpmdId> made;       // by the chain, in memory
  std::vector<SpmdId> meanwhile;  // what is read or made from the product up to the chain
  // Per local rank, in the run in progress: when the chain was done there, as if all of it came
  // last; nullopt: it was not.
  std::vector<std::optional<TimeSpan>> done = {};

  // Whether the plan gives what the chain makes the place of what is read for the last time before.
  [[nodiscard]] bool is_too_early(const PreparedProgram& prepared, std::size_t rank) const;
};

// Marks the product and the chain of each; of none where everything that is computed is looked at.
void find_epilogues(PreparedProgram& prepared, const std::vector<Readers>& readers,
                    const PrepareContext& context);

}  // namespace mtf
