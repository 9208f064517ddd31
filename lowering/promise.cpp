#include "lowering/promise.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "lowering/peak.h"
#include "lowering/quantity.h"
#include "lowering/step_text.h"

namespace mtf {
namespace {

constexpr std::size_t kShown = 6;

bool is_of_collectives(Measure measure) {
  return measure == Measure::kCalls || measure == Measure::kElements || measure == Measure::kBytes;
}

// `any_axes`: also those over other axes than the clause names.
bool counts(const SpmdProgram& program, const Step& step, const Expectation& clause,
            bool any_axes) {
  if (!is_collective(step.kind) || (!clause.kind.empty() && to_string(step.kind) != clause.kind)) {
    return false;
  }
  if (!clause.axes || any_axes) {
    return true;
  }
  std::vector<std::string> names;
  for (const AxisId axis : step.axes) {
    names.push_back(program.mesh.axes[axis].name);
  }
  return std::ranges::is_permutation(names, *clause.axes);
}

std::string exact_text(double value) {
  std::array<char, 40> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.17g", value);
  return {buffer.data(), static_cast<std::size_t>(length)};
}

std::string value_text(Measure measure, double value) {
  if (measure == Measure::kFlops) {
    return value < 1000 ? exact_text(value) + " FLOP"
                        : flops_text(value) + " (" + exact_text(value) + ")";
  }
  const auto whole = static_cast<std::int64_t>(value);
  if (static_cast<double>(whole) != value) {
    return exact_text(value);
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
  const bool none = std::ranges::none_of(
      program.steps, [&](const Step& step) { return counts(program, step, clause, false); });
  std::size_t more = 0;
  for (const Step& step : program.steps) {
    if (!counts(program, step, clause, /*any_axes=*/none)) {
      continue;
    }
    if (notes.size() >= kShown) {
      ++more;
      continue;
    }
    const SourceSpan span = step.reasons.empty() ? SourceSpan() : step.reasons.front().span;
    notes.push_back({.span = span,
                     .text = move_text(program, step, names) + ", " + bytes_text(step.bytes) +
                             ": " + reason_text(step, sources)});
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

double measured(const SpmdProgram& program, const Expectation& clause) {
  switch (clause.measure) {
    case Measure::kPeakMemory:
      return static_cast<double>(program.totals.peak_bytes);
    case Measure::kFlops:
      return program.totals.flops;
    case Measure::kParameters:
      return static_cast<double>(program.totals.parameters);
    case Measure::kCalls:
    case Measure::kElements:
    case Measure::kBytes:
      break;
  }
  double sum = 0;
  for (const Step& step : program.steps) {
    if (counts(program, step, clause, false)) {
      sum += clause.measure == Measure::kCalls      ? 1
             : clause.measure == Measure::kElements ? static_cast<double>(step.elements)
                                                    : static_cast<double>(step.bytes);
    }
  }
  return sum;
}

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
