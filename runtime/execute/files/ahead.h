// Programs that are run before they are asked for, on a thread of their own: the next batch is read
// from its files while the step in progress computes.
//
// What will be asked for is a guess: the same tensors, and counters that go on as they did. What
// was computed is handed out only for the very inputs that it was computed of, so that no bit
// depends on whether, or when, it was.

#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/execute/executor.h"

namespace mtf {

// Runs what it is given, one after the other, with one thread for each rank; it does not talk to
// other processes.
class AheadThread {
 public:
  AheadThread(const Communicator& ranks, const ExecutorOptions& options);
  ~AheadThread();
  AheadThread(const AheadThread&) = delete;
  AheadThread& operator=(const AheadThread&) = delete;
  AheadThread(AheadThread&&) = delete;
  AheadThread& operator=(AheadThread&&) = delete;

  [[nodiscard]] Executor& executor();
  void post(std::function<void()> work);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct AheadAnswer {
  std::vector<RankTensor> outputs;
  std::vector<Counted> counted;
  TimeSpan work;  // of the thread
};

class AheadProgram {
 public:
  // Whether it has counters, and does nothing but compute, on what a rank has.
  [[nodiscard]] static bool is_one(const SpmdProgram& program);

  // Both outlive it. requires: is_one(program)
  AheadProgram(AheadThread& thread, const SpmdProgram& program);
  ~AheadProgram();
  AheadProgram(const AheadProgram&) = delete;
  AheadProgram& operator=(const AheadProgram&) = delete;
  AheadProgram(AheadProgram&&) = delete;
  AheadProgram& operator=(AheadProgram&&) = delete;

  using Owners = std::vector<std::shared_ptr<const void>>;
  // After a run with these inputs; `owners` keep those that are no counters.
  void begin(std::span<const RankTensor* const> inputs, Owners owners);
  // What came of it, if it was for these inputs. Waits for it.
  [[nodiscard]] std::optional<AheadAnswer> take(std::span<const RankTensor* const> inputs);

 private:
  struct Counter {
    std::size_t input = 0;
    std::optional<std::int64_t> last = {};
    RankTensor guess = {};
  };

  std::optional<AheadAnswer> run();
  void guess(Counter& counter, const RankTensor& now);
  [[nodiscard]] bool is_asked_for(std::span<const RankTensor* const> inputs) const;

  AheadThread& thread_;
  const SpmdProgram& program_;
  std::vector<Counter> counters_;
  std::optional<Executable> executable_;   // the thread's
  std::vector<const RankTensor*> inputs_;  // of the run in progress
  Owners owners_;
  std::future<std::optional<AheadAnswer>> answer_;
};

}  // namespace mtf
