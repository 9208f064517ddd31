// Loops on the device (ir/loops/loop.h): where a run goes back, and what trips hand on.

#pragma once

#include <cstddef>
#include <optional>

#include "lowering/spmd.h"

namespace mtf {

struct PreparedProgram;  // runtime/execute/executor_program.h

// A mark or a hand-over of a loop.
struct LoopStep {
  Primitive what{};
  SpmdId to;              // kNext: what is carried; kWhile: the condition
  SpmdId from;            // kNext: what it takes
  std::size_t other = 0;  // kWhile: the step that ends the loop; kAgain: the one that begins it
  bool draws = false;     // kWhile: whether a trip draws random numbers of its own
};

// nullopt: the step is something else.
[[nodiscard]] std::optional<LoopStep> loop_step(const Step& step);

// The two ends of each loop get to know each other. Where something may fail, ranks agree before
// each trip whether all is well: they would not take the same turn otherwise.
void join_loops(const SpmdProgram& program, PreparedProgram& prepared);

// What is carried takes its next value, on one local rank.
void hand_on(const PreparedProgram& prepared, const LoopStep& step, std::size_t rank);

}  // namespace mtf
