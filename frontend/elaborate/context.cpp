// The stack of units under construction.

#include "frontend/elaborate/context.h"

namespace mtf::host {

Context::Context(ElaborateOptions session_options, SourceMap& source_map, Device& on,
                 DiagSink& diags)
    : options(std::move(session_options)), sources(source_map), device(on), report(diags) {}

bool Context::in_function() const {
  return !recordings.empty() && recordings.back()->kind != UnitKind::kStatement;
}

bool Context::calls_are_units() const {
  return recordings.empty() ||
         (recordings.back()->kind == UnitKind::kStatement && !recordings.back()->inline_calls);
}

Recording& Context::open(UnitKind kind, std::string name) {
  recordings.push_back(
      std::make_unique<Recording>(kind, next_unit++, std::move(name), options.ops));
  enter_region(*this, *recordings.back());
  return *recordings.back();
}

std::unique_ptr<Recording> Context::close() {
  take_diags();
  std::unique_ptr<Recording> closed = std::move(recordings.back());
  recordings.pop_back();
  return closed;
}

void Context::error(DiagKind kind, SourceSpan span, std::string text, std::vector<Note> notes,
                    std::string fix) {
  report.error(kind, span, std::move(text), std::move(notes), std::move(fix));
  fail();
}

void Context::fail() {
  for (const std::unique_ptr<Recording>& unit : recordings) {
    unit->failed = true;
  }
  if (!options.check && !dry) {
    constexpr std::size_t kStatementsAfterError = 10'000;
    dry = true;
    options.max_check_statements = statements + kStatementsAfterError;
  }
}

bool Context::may_go_on(SourceSpan span, std::size_t work) {
  if (options.before_statement) {
    options.before_statement();
  }
  statements += work;
  bool too_long = false;
  for (const std::unique_ptr<Recording>& unit : recordings) {
    unit->statements += work;
    too_long = too_long || unit->statements > options.max_unit_statements;
  }
  if (ended) {
    return false;
  }
  if (too_long) {
    ended = true;
    error(DiagKind::kOverflow, span,
          "one call would run more than " + std::to_string(options.max_unit_statements) +
              " statements, each a step of its program; a loop at top level may be as long as it "
              "likes");
  } else if (options.deadline && std::chrono::steady_clock::now() > *options.deadline) {
    ended = true;
    error(DiagKind::kOverflow, span, "the time that `--timeout` gives is over here");
  } else if (checks_only() && at_top_level() && statements > options.max_check_statements) {
    ended = true;
    fail();
  }
  return !ended;
}

void Context::take_diags() {
  Recording& unit = recording();
  if (unit.diags.diags().empty()) {
    return;
  }
  report.forward(unit.diags, true);
  if (!unit.diags.ok()) {
    fail();
  }
  unit.diags = DiagSink();
}

}  // namespace mtf::host
