// Runs SPMD programs on the local ranks of a communicator, step by step: all local ranks do a step
// before the next begins.
//
// A program is prepared once: operands become places in buffers, element-wise chains become passes,
// collectives become copies and messages. A run then allocates nothing but its outputs.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/execute/count.h"
#include "runtime/execute/step_time.h"
#include "runtime/execute/tensor.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

// Where a program's random numbers come from: a seed, and how many runs have drawn from it.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint64_t draws = 0;
};

// Takes the value of a scalar, and which it is of the program as it was lowered.
using WatchedScalar = std::function<void(const Program&, ValueId, double)>;

// Takes a metric's name, its number, and its step if that is not the one in progress.
using NotedNumber = std::function<void(std::string_view, double, std::optional<std::int64_t>)>;

struct ExecutorOptions {
  bool exact = true;
  bool nan_is_error = false;  // what a kernel warns of as not a number stops all ranks
  bool check_finite = false;  // the first value that is not finite stops all ranks
  std::uint64_t seed = 0;
  int threads = 0;               // of a rank; 0: as many as the machine has for it
  std::int64_t least_share = 0;  // elements that are worth a thread; 0: as Cpu says
  bool check_agreement = false;  // compare what ranks are about to do before each collective
  std::function<void(std::string_view)> print = {};  // lines of the program; on rank 0 only
  NotedNumber metric = {};                           // numbers of it, likewise
  std::function<void(const StepTime&)> timed = {};   // each step that was done, if anybody asks
  WatchedScalar watched = {};  // told of each scalar that is checked to be finite
  // Of a step by its number, and about how many flops it takes the time of; may throw, on all ranks
  // alike.
  std::function<void(const SpmdProgram&, std::size_t, double)> before_step =
      [](const SpmdProgram&, std::size_t, double) {};
};

struct PreparedProgram;  // runtime/execute/executor_program.h
class ReadAhead;         // runtime/execute/files/read_ahead.h

// Of one executor, which outlives it, as must the program.
class Executable {
 public:
  explicit Executable(std::unique_ptr<PreparedProgram> program);
  ~Executable();
  Executable(Executable&& other) noexcept;
  Executable& operator=(Executable&& other) noexcept;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  [[nodiscard]] PreparedProgram& program() const { return *program_; }

 private:
  std::unique_ptr<PreparedProgram> program_;
};

class Executor {
 public:
  // The communicator outlives the executor; the executor outlives all tensors it made.
  Executor(Communicator& communicator, ExecutorOptions options);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  Executor(Executor&&) = delete;
  Executor& operator=(Executor&&) = delete;

  [[nodiscard]] BufferPool& pool();
  [[nodiscard]] Communicator& communicator();

  // Collective: makes the groups that the program needs. requires: program.mesh has as many ranks
  // as the communicator.
  [[nodiscard]] Executable prepare(const SpmdProgram& program);

  // One tensor per program input, in the program's layout; `updated`: those of the program's
  // updates once more, in their order, which alone are written to. Returns the outputs, or nullopt
  // after an error, which then all ranks have in `diags` alike: rank 0 prints it, every rank ends
  // with `close(1, …)`. Warnings are recorded on rank 0 only, each place once. `ahead`: has some of
  // the results; null: none.
  [[nodiscard]] std::optional<std::vector<RankTensor>> run(
      const Executable& executable, std::span<const RankTensor* const> inputs,
      std::span<RankTensor* const> updated, DiagSink& diags, ReadAhead* ahead = nullptr);

  // What the last run did, counted as it was done: one entry per local rank.
  [[nodiscard]] std::span<const Counted> counted() const;

  [[nodiscard]] RandomStream stream() const;
  void set_stream(RandomStream stream);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mtf
