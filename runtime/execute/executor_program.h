// An SPMD program made ready for the local ranks: what a run walks through.

#pragma once

#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/exchange/exchange.h"
#include "runtime/execute/async/async_step.h"
#include "runtime/execute/bucket/bucket_step.h"
#include "runtime/execute/chain/chain_step.h"
#include "runtime/execute/count.h"
#include "runtime/execute/executor_host.h"
#include "runtime/execute/kernel/kernel_step.h"
#include "runtime/execute/loop_step.h"
#include "runtime/execute/stream_step.h"
#include "runtime/execute/tensor.h"

namespace mtf {

struct MoveStep {
  StepKind kind{};
  Exchange exchange;
  SpmdId from;
  SpmdId to;
  std::vector<SpmdId> indices;  // kServe: at which `from` is read
  std::size_t slot = 0;         // in the totals' collectives; unused by a slice
  std::uint64_t hash = 0;       // what all ranks must agree on
};

struct PassedStep {};  // a gather that the StreamStep behind it does; an asynchronous all-reduce

struct PreparedStep {
  std::variant<KernelStep, ChainStep, MoveStep, BucketStep, StreamStep, PassedStep, LoopStep> body;
  double flops = 0;                        // of one rank's slices, the longest
  double work = 0;                         // flops that take about as long, on all ranks the same
  std::vector<double> flops_on = {};       // of each local rank, where they are not all as long
  bool effect = false;                     // ranks agree after it whether all is well
  bool draws = false;                      // from the program's stream of random numbers
  std::vector<std::size_t> finishes = {};  // asynchronous all-reduces, before it
  std::vector<std::size_t> starts = {};    // behind those

  // One more time on all local ranks.
  void count(std::size_t number, std::vector<Counted>& counted) const {
    for (std::size_t i = 0; i < counted.size(); ++i) {
      ++counted[i].times[number];
      counted[i].totals.flops += flops_on.empty() ? flops : flops_on[i];
    }
  }
};

// What ranks have of a working copy.
struct KeptCopy {
  std::vector<Buffer> parts = {};  // one per local rank
  std::uint64_t of = 0;            // the version of the variable; 0: of none
};

struct PreparedProgram {
  const SpmdProgram* program = nullptr;
  std::vector<PreparedStep> steps;
  std::vector<AsyncStep> async;          // in the order in which they start
  bool may_fail = false;                 // some kernel runs
  bool draws = false;                    // from the program's stream of random numbers
  std::int64_t arena_bytes = 0;          // that the steps reach
  std::vector<bool> in_files;            // outputs that may be parts of files
  std::vector<Counted> counted;          // per local rank, of the last run
  std::vector<KeptCopy> copies;          // there since the first run
  std::vector<std::vector<void*>> data;  // per local rank and value, of the last run

  [[nodiscard]] void* at(std::size_t rank, SpmdId id) const {
    return data[rank][static_cast<std::size_t>(id.index)];
  }
  // Whether some of these lie where the other does, in the run in progress.
  [[nodiscard]] bool shares_memory(std::size_t rank, std::span<const SpmdId> some,
                                   SpmdId other) const;
};

struct PrepareContext {
  Communicator& communicator;
  std::vector<RankHost>& hosts;  // one per local rank
  bool exact = true;
  bool watched = false;  // everything that is computed is looked at
};

// A rank's share of a loop.
[[nodiscard]] LoopShare share_on(const Mesh& mesh, const LocalCall& call, std::size_t loop,
                                 std::int64_t rank);

[[nodiscard]] std::unique_ptr<PreparedProgram> prepare_program(const SpmdProgram& program,
                                                               const PrepareContext& context);

// At its beginning the values get their addresses. An output may have none yet.
void resolve(PreparedProgram& prepared, std::span<const RankTensor* const> inputs,
             std::span<const RankTensor> outputs, std::span<const Buffer> arenas);

// Before that, working copies are those of what the variables are.
void find_copies(PreparedProgram& prepared, std::span<const RankTensor* const> inputs,
                 BufferPool& pool);

// At the end of a run variables take their values.
void update_variables(const PreparedProgram& prepared, std::span<RankTensor* const> updated);

// … and so do working copies.
void keep_copies(PreparedProgram& prepared, std::span<const RankTensor* const> inputs);

// Bytes that each local rank holds for a run; a tensor that is two inputs counts as two, as in the
// plan.
void count_memory(PreparedProgram& prepared, std::span<const RankTensor* const> inputs,
                  std::span<const RankTensor> outputs);

// Adds up what ranks moved in a step.
void count_moved(PreparedProgram& prepared, std::size_t step, std::size_t slot, const Group& group);

}  // namespace mtf
