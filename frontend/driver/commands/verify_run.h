// One run of a program for `mtf verify`, and what it showed.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/driver/commands/compare.h"
#include "frontend/driver/workspace.h"
#include "frontend/report/lint/promise.h"

namespace mtf {

struct VerifyRun {
  std::string layout;  // its name; "" for one rank
  bool exact = true;
  // Not 0: the last digit of each element that a variable of f32 or f64 begins with, and of what
  // top-level statements hand on, is another one, up or down as the draw has it.
  std::uint64_t draw = 0;
  std::int64_t kept = 0;  // bytes of what it will be compared with
};

struct VerifyResult {
  std::optional<Trace> trace;  // absent: the errors in `told`
  std::string refused;         // why it did not begin
  std::vector<Diag> told;
  std::vector<Ending> endings;
};

// Throws a Failure where the time of `--timeout` is over, while it is checked as while it runs:
// then nothing is known of it, nor of what it was to be compared with.
[[nodiscard]] VerifyResult run_to_verify(Workspace& workspace, FileId file, const VerifyRun& run);

// The program on one rank with other last digits: what differs from the run with its own is what
// roundings make of it. Empty: it cannot be told.
// `kept`: bytes of what they will be compared with.
[[nodiscard]] std::vector<Trace> rounded_runs(Workspace& workspace, FileId file,
                                              std::int64_t kept = 0);

}  // namespace mtf
