// What a program reads from files, got ready before it is asked for, on a thread of its own: the
// next batch is read while the step in progress computes.
//
// What will be asked for is a guess: the same tensors, and counters that go on as they did. What
// was read is handed out only for the very inputs that it was read for, so that no bit depends on
// whether, or when, it was.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/execute/files/ahead_part.h"
#include "runtime/execute/files/ahead_thread.h"
#include "runtime/execute/step_time.h"

namespace mtf {

struct PreparedProgram;  // runtime/execute/executor_program.h

// Told of what was read and then taken: when the thread did it, and how long a run waited for it.
using ReadAheadTold = std::function<void(TimeSpan work, TimeSpan waited)>;

class ReadAhead {
 public:
  using Owners = std::vector<std::shared_ptr<const void>>;

  // The thread and the program outlive it.
  ReadAhead(AheadThread& thread, const SpmdProgram& program, std::vector<AheadPart> parts,
            ReadAheadTold told);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ReadAhead(ReadAhead&&) = delete;
  ReadAhead& operator=(ReadAhead&&) = delete;

  // Before a run with these inputs; `owners` keep those that are no variables for as long as
  // something is read from them.
  void begin_run(std::span<const RankTensor* const> inputs, Owners owners);
  // A part of the program begins with this step: takes what was read for it, and begins the next.
  void arrive(std::size_t step, const PreparedProgram& prepared);
  // Whether it has the result of the step.
  [[nodiscard]] bool has(std::size_t step) const;
  // Puts it in its place. requires: has(step)
  void give(std::size_t step, const PreparedProgram& prepared) const;

 private:
  class Part;

  const SpmdProgram& program_;
  ReadAheadTold told_;
  Owners owners_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace mtf
