#include "frontend/report/expect/broken.h"

#include <algorithm>

#include "frontend/report/plan/step_text.h"
#include "frontend/report/quantity.h"
#include "frontend/report/why/reason.h"
#include "ir/support/number.h"
#include "lowering/memory/peak.h"
#include "lowering/verify/promise.h"

namespace mtf {
namespace {

constexpr std::size_t kShown = 6;

bool is_of_collectives(Measure measure) {
  return measure == Measure::kCalls || measure == Measure::kElements || measure == Measure::kBytes;
}

std::string value_text(Measure measure, double value) {
  if (measure == Measure::kFlops) {
    return value < 1000 ? significant(value, 17) + " FLOP"
                        : flops_text(value) + " (" + significant(value, 17) + ")";
  }
  const auto whole = static_cast<std::int64_t>(value);
  if (static_cast<double>(whole) != value) {
    return significant(value, 17);
  }
  const bool bytes = measure == Measure::kBytes || measure == Measure::kPeakMemory;
  if (!bytes) {
    return count_text(whole);
  }
  return bytes_text(whole) + (whole < 1024 ? "" : " (" + count_text(whole) + " B)");
}

void add_collectives(const SpmdProgram& program, const Expectation& clause,
                     const SourceMap& sources, std::vector<Note>& notes) {
  const ValueNames names(program);
  const Reasons reasons(program);
  const bool none = std::ranges::none_of(
      program.steps, [&](const Step& step) { return is_counted(program, step, clause, false); });
  std::size_t more = 0;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    if (!is_counted(program, step, clause, /*any_axes=*/none)) {
      continue;
    }
    if (notes.size() >= kShown) {
      ++more;
      continue;
    }
    const SourceSpan span = step.reasons.empty() ? SourceSpan() : step.reasons.front().span;
    notes.push_back({.span = span,
                     .text = move_text(program, step, names) + ", " + bytes_text(step.bytes) +
                             ": " + reasons.of(s, sources)});
  }
  if (more > 0) {
    notes.push_back({.span = {}, .text = "and " + std::to_string(more) + " more"});
  }
}

void add_peak(const SpmdProgram& program, std::vector<Note>& notes) {
  const ValueNames names(program);
  const Peak peak = peak_of(program);
  for (std::size_t i = 0; i < peak.held.size() && i < kShown; ++i) {
    const Held& held = peak.held[i];
    const std::string what(to_string(held.what));
    notes.push_back({.span = held.span,
                     .text = bytes_text(held.bytes) + " at the peak: " +
                             (held.value.valid() ? what + " " + names.of(held.value) + " " +
                                                       type_text(program.at(held.value))
                                                 : what)});
  }
}

}  // namespace

std::optional<Diag> broken(const SpmdProgram& program, const Expectation& clause,
                           const SourceMap& sources) {
  const double value = measured(program, clause);
  if (holds(value, clause.relation, clause.bound)) {
    return std::nullopt;
  }
  const std::string where = program.layout.empty() ? "" : " under `" + program.layout + "`";
  Diag diag{.kind = DiagKind::kExpectation,
            .severity = Severity::kError,
            .span = clause.span,
            .text = "`" + clause.text + "` does not hold for `" + program.source.name + "`" +
                    where + ": it is " + value_text(clause.measure, value),
            .notes = {},
            .fix = {}};
  if (is_of_collectives(clause.measure)) {
    add_collectives(program, clause, sources, diag.notes);
  } else if (clause.measure == Measure::kPeakMemory) {
    add_peak(program, diag.notes);
  }
  return diag;
}

}  // namespace mtf
