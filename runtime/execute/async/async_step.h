// All-reduces of a program that go as one message, started before one step and finished before
// another.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowering/steps/async_reduces.h"
#include "runtime/execute/buffer.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

struct PrepareContext;   // runtime/execute/executor_program.h
struct PreparedProgram;  // the same

class AsyncStep {
 public:
  // Collective: makes the group. `slot`: in the totals' collectives.
  AsyncStep(const SpmdProgram& program, const AsyncReduce& reduce, std::size_t slot,
            const PrepareContext& context);

  [[nodiscard]] StepRange message() const { return message_; }
  [[nodiscard]] std::size_t last() const { return message_.end - 1; }
  [[nodiscard]] const Group& group() const { return *group_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }  // what all ranks must agree on
  [[nodiscard]] bool is_in_flight() const { return number_.has_value(); }
  [[nodiscard]] std::int64_t started() const { return started_; }  // when `start` had returned

  // Both on all local ranks.
  void start(const PreparedProgram& prepared, Communicator& communicator, BufferPool& pool);
  FinishedReduce finish(PreparedProgram& prepared, Communicator& communicator);

 private:
  struct Sum {
    SpmdId from;
    SpmdId to;
    std::int64_t begin = 0;  // bytes, in the message
    std::int64_t bytes = 0;
  };

  [[nodiscard]] bool is_packed() const { return sums_.size() > 1; }

  StepRange message_;
  std::size_t slot_;
  const Group* group_;
  Combination how_;
  std::vector<Sum> sums_;
  std::int64_t bytes_ = 0;  // of the message
  std::uint64_t hash_ = 0;
  // While it is in flight.
  std::optional<std::size_t> number_;
  std::int64_t started_ = 0;
  std::vector<Buffer> packed_;  // per local rank
};

}  // namespace mtf
