// One call of a kernel, on the slices of each local rank.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/execute/files/file_output.h"
#include "runtime/execute/kernel/rank_kernel.h"
#include "runtime/execute/kernel/update_in_place.h"

namespace mtf {

struct KernelStep {
  const LocalCall* call = nullptr;
  std::vector<RankKernel> ranks;                    // one per local rank
  std::optional<FileOutput> in_file = {};           // what may not need to be computed
  std::shared_ptr<UpdateInPlace> update = nullptr;  // which the chain behind it leaves to it

  // `addresses`: of operands, to work in.
  void run(const PreparedProgram& prepared, std::size_t rank, std::vector<void*>& addresses);
};

}  // namespace mtf
