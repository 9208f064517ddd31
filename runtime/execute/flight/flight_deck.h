// The flights of a run: begins and lands those that are due, and takes their time.

#pragma once

#include <cstddef>
#include <span>

#include "runtime/execute/executor.h"

namespace mtf {

class FlightDeck {
 public:
  // The options outlive it, as do the others.
  FlightDeck(Communicator& communicator, BufferPool& pool, const ExecutorOptions& options)
      : communicator_(communicator), pool_(pool), options_(options) {}

  // Before a step: lands what it waits for, and begins what may go now.
  void before(PreparedProgram& prepared, std::size_t step);
  // Behind a step.
  void lead_on();
  // All that is on its way.
  void land_all(PreparedProgram& prepared);

 private:
  void begin(PreparedProgram& prepared, std::size_t number);
  void land(PreparedProgram& prepared, std::size_t number);
  void tell(StepTime time) const;

  Communicator& communicator_;
  BufferPool& pool_;
  const ExecutorOptions& options_;
  std::size_t on_their_way_ = 0;
};

}  // namespace mtf
