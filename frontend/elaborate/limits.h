// How long a program may go on: statements of a check, of one unit, and time.

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>

#include "frontend/elaborate.h"

namespace mtf::host {

class Reporter;
class Units;

struct Limits {
  Limits() = default;
  explicit Limits(const ElaborateOptions& options);

  std::size_t max_check_statements = 0;
  std::size_t max_unit_statements = 0;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::function<void()> before_statement;  // may throw, to end what runs

  std::size_t statements = 0;         // so far
  bool ended = false;                 // what went on for long enough
  bool ends_soon = false;             // after an error in a run
  const char* lowest_call = nullptr;  // calls may take the stack down to here

  // Of a session that is told one statement after the other, each may go on for as long as a
  // program.
  void start_over() {
    statements = 0;
    ended = false;
  }

  // What follows runs on the stack of this thread, however large that is.
  void begin_on_this_stack();
};

// Work as of so many statements is about to be done. False: there has been enough of it, which is
// an error in a function and in time, and the quiet end of a check.
[[nodiscard]] bool may_go_on(Limits& limits, Units& units, SourceSpan span, std::size_t work = 1);

// Deep expressions inside deep calls: each alone is limited, both together could still be too much.
// False after an error.
[[nodiscard]] bool stack_left(const Limits& limits, Reporter& report, SourceSpan span);

}  // namespace mtf::host
