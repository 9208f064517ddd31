// When a step was done on a rank: what profiles and traces are made of.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace mtf {

// Of this process's steady clock, in nanoseconds.
struct TimeSpan {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t length() const { return end - begin; }
};

[[nodiscard]] inline std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The local ranks of a process do a kernel one after the other, everything else together: then they
// have the same time.
struct StepTime {
  std::size_t step = 0;  // in SpmdProgram::steps; their number: ranks agree that none failed
  std::size_t rank = 0;  // among the local ranks
  TimeSpan time;
  bool resumes = false;     // goes on with the step: the next part of a stream, or an asynchronous
                            // all-reduce is finished
  bool is_async = false;    // an asynchronous all-reduce starts, or is finished
  std::int64_t hidden = 0;  // of one that is finished: how long it was in flight beside other steps
};

}  // namespace mtf
