// Results that are 0 but for some runs, for a chain that reads them so.
//
// The sum of a few rows in a large table, as the gradient of an embedding is, goes to a chain that
// goes element by element: then neither need the zeros be written, nor read.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/kernel.h"
#include "lowering/spmd.h"
#include "runtime/execute/kernel/readers.h"

namespace mtf {

struct PrepareContext;  // runtime/execute/executor_program.h
struct PreparedProgram;

struct ResultRuns {
  SpmdId of;
  std::vector<SpmdId> made;       // by the chain, in memory: not in place of what is left as runs
  std::vector<KernelRuns> ranks;  // of each local one, in the run in progress

  // What stands where the elements from `begin` on are read.
  struct Stretch {
    const std::byte* first = nullptr;  // where element 0 would be, if all of it were there
    std::int64_t end = 0;              // at most what is asked
  };
  [[nodiscard]] Stretch stretch(std::size_t rank, const std::byte* place, std::int64_t width,
                                Interval elements) const;
};

// Marks the kernel and the chain of each; of none where everything that is computed is looked at.
void find_result_runs(PreparedProgram& prepared, const std::vector<Readers>& readers,
                      const PrepareContext& context);

}  // namespace mtf
