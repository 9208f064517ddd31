#include "frontend/elaborate/limits.h"

#include <algorithm>
#include <pthread.h>
#include <string>

#include "frontend/elaborate/tensors/recording.h"
#include "ir/support/stop.h"

namespace mtf::host {

Limits::Limits(const ElaborateOptions& options)
    : max_check_statements(options.max_check_statements),
      max_unit_statements(options.max_unit_statements),
      deadline(options.deadline),
      before_statement(options.before_statement) {}

bool may_go_on(Limits& limits, Units& units, SourceSpan span, std::size_t work) {
  constexpr std::size_t kStatementsAfterError = 10'000;
  if (limits.before_statement) {
    limits.before_statement();
  }
  if (units.execution.is_dry() && !limits.ends_soon) {
    limits.ends_soon = true;
    limits.max_check_statements = limits.statements + kStatementsAfterError;
  }
  limits.statements += work;
  bool too_long = false;
  for (const std::unique_ptr<Recording>& unit : units.recordings) {
    unit->statements += work;
    too_long = too_long || unit->statements > limits.max_unit_statements;
  }
  if (limits.ended) {
    return false;
  }
  if (too_long) {
    limits.ended = true;
    units.report.error(
        DiagKind::kOverflow, span,
        "one call would run more than " + std::to_string(limits.max_unit_statements) +
            " statements, each a step of its program; a loop at top level may be as long as it "
            "likes");
  } else if (limits.deadline && std::chrono::steady_clock::now() > *limits.deadline) {
    limits.ended = true;
    units.report.error(DiagKind::kOverflow, span, std::string(kTimeIsOver));
  } else if (units.execution.checks_only() && units.at_top_level()) {
    limits.ended = limits.statements > limits.max_check_statements;
  }
  return !limits.ended;
}

void Limits::begin_on_this_stack() {
  constexpr std::size_t kMostStack = std::size_t{64} << 20;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
    return;
  }
  void* lowest = nullptr;
  std::size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  const auto* top = static_cast<const char*>(lowest) + size;
  // Three eighths are left for what the innermost call runs. Without a limit there may be
  // terabytes.
  lowest_call = top - std::min(size, kMostStack) / 8 * 5;
}

bool stack_left(const Limits& limits, Reporter& report, SourceSpan span) {
  const auto* here = static_cast<const char*>(__builtin_frame_address(0));
  if (here > limits.lowest_call) {
    return true;
  }
  report.error(DiagKind::kRecursionLimit, span, "calls and brackets are nested too deep here");
  return false;
}

}  // namespace mtf::host
