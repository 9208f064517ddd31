// One call of a kernel, on the slices of each local rank.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/execute/files/file_output.h"
#include "runtime/execute/kernel/epilogue.h"
#include "runtime/execute/kernel/rank_kernel.h"
#include "runtime/execute/kernel/result_runs.h"

namespace mtf {

struct ChainScratch;  // runtime/execute/chain/chain_step.h

struct KernelStep {
  const LocalCall* call = nullptr;
  std::vector<RankKernel> ranks;                 // one per local rank
  std::optional<FileOutput> in_file = {};        // what may not need to be computed
  std::shared_ptr<Epilogue> epilogue = nullptr;  // the chain behind it that it is handed to
  std::shared_ptr<ResultRuns> runs = nullptr;    // what its only reader may be left

  // Returns which time of it is the chain's, if any is. `addresses`: of operands, to work in.
  std::optional<TimeSpan> run(const PreparedProgram& prepared, std::size_t rank,
                              std::vector<void*>& addresses, ChainScratch& chains);

 private:
  std::optional<TimeSpan> run_bands(const PreparedProgram& prepared, std::size_t rank,
                                    std::vector<void*>& addresses, ChainScratch& chains);
};

}  // namespace mtf
