// The asynchronous all-reduces of a run: starts and finishes those that are due, and times them.

#pragma once

#include <cstddef>
#include <span>

#include "runtime/execute/executor.h"

namespace mtf {

class AsyncRunner {
 public:
  // The options outlive it, as do the others.
  AsyncRunner(Communicator& communicator, BufferPool& pool, const ExecutorOptions& options)
      : communicator_(communicator), pool_(pool), options_(options) {}

  // Before a step: finishes what it waits for, and starts what may go now.
  void before(PreparedProgram& prepared, std::size_t step);
  // Behind a step.
  void progress();
  // All that is in flight.
  void finish_all(PreparedProgram& prepared);

 private:
  void start(PreparedProgram& prepared, std::size_t number);
  void finish(PreparedProgram& prepared, std::size_t number);
  void tell(StepTime time) const;

  Communicator& communicator_;
  BufferPool& pool_;
  const ExecutorOptions& options_;
  std::size_t in_flight_ = 0;
};

}  // namespace mtf
