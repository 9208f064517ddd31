// The slugs of diagnostics, the sink, and the search for a misspelt name.

#include "ir/support/diag.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "ir/support/text/lists.h"

namespace mtf {

bool is_of_layout(DiagKind kind) {
  return kind == DiagKind::kLayoutConflict || kind == DiagKind::kIndivisible;
}

// One line per kind: longer than a function should be, and clearer than a table beside the enum.
std::string_view slug(DiagKind kind) {  // NOLINT(readability-function-size)
  switch (kind) {
    case DiagKind::kSyntax:
      return "syntax";
    case DiagKind::kBadText:
      return "bad-text";
    case DiagKind::kNestingLimit:
      return "nesting-limit";
    case DiagKind::kUnknownName:
      return "unknown-name";
    case DiagKind::kUnknownDim:
      return "unknown-dim";
    case DiagKind::kUnknownAxis:
      return "unknown-axis";
    case DiagKind::kUnusedAxis:
      return "unused-axis";
    case DiagKind::kUnknownLayout:
      return "unknown-layout";
    case DiagKind::kUnknownEntry:
      return "unknown-entry";
    case DiagKind::kDuplicateName:
      return "duplicate-name";
    case DiagKind::kShadowedDim:
      return "shadowed-dim";
    case DiagKind::kReassignedLet:
      return "reassigned-let";
    case DiagKind::kDuplicateParameter:
      return "duplicate-parameter";
    case DiagKind::kWrongType:
      return "wrong-type";
    case DiagKind::kDtypeMismatch:
      return "dtype-mismatch";
    case DiagKind::kBadArgument:
      return "bad-argument";
    case DiagKind::kMissingArgument:
      return "missing-argument";
    case DiagKind::kUnknownArgument:
      return "unknown-argument";
    case DiagKind::kDimMissing:
      return "dim-missing";
    case DiagKind::kDimSize:
      return "dim-size";
    case DiagKind::kRepeatedDim:
      return "repeated-dim";
    case DiagKind::kBroadcastConflict:
      return "broadcast-conflict";
    case DiagKind::kBadReshape:
      return "bad-reshape";
    case DiagKind::kBadEinsum:
      return "bad-einsum";
    case DiagKind::kBadIndex:
      return "bad-index";
    case DiagKind::kNotDifferentiable:
      return "not-differentiable";
    case DiagKind::kNoGradient:
      return "no-gradient";
    case DiagKind::kLayoutConflict:
      return "layout-conflict";
    case DiagKind::kIndivisible:
      return "indivisible";
    case DiagKind::kMeshSize:
      return "mesh-size";
    case DiagKind::kFile:
      return "file";
    case DiagKind::kBadImport:
      return "bad-import";
    case DiagKind::kImportCycle:
      return "import-cycle";
    case DiagKind::kRecursionLimit:
      return "recursion-limit";
    case DiagKind::kOverflow:
      return "overflow";
    case DiagKind::kMemory:
      return "memory";
    case DiagKind::kDivisionByZero:
      return "division-by-zero";
    case DiagKind::kNotANumber:
      return "not-a-number";
    case DiagKind::kAssertion:
      return "assertion";
    case DiagKind::kExpectation:
      return "expectation";
    case DiagKind::kIdleStatement:
      return "idle-statement";
    case DiagKind::kUnreached:
      return "unreached";
    case DiagKind::kUnusedRule:
      return "unused-rule";
    case DiagKind::kIdleAxis:
      return "idle-axis";
    case DiagKind::kReplicated:
      return "replicated";
    case DiagKind::kGatheredTwice:
      return "gathered-twice";
    case DiagKind::kSlicedReduction:
      return "sliced-reduction";
    case DiagKind::kOtherBits:
      return "other-bits";
    case DiagKind::kRepeatedReshard:
      return "repeated-reshard";
  }
  assert(false);
  return {};
}

namespace {

constexpr std::string_view kCalled = "`, called here";

}  // namespace

Note call_note(std::string_view function, SourceSpan call) {
  return {.span = call, .text = "in `" + std::string(function) + std::string(kCalled)};
}

bool move_to_caller(Diag& diag, const std::function<bool(FileId)>& is_library) {
  const auto is_inside = [&](SourceSpan span) {
    return span.file.valid() && is_library(span.file);
  };
  if (!is_inside(diag.span)) {
    return false;
  }
  const auto caller = std::ranges::find_if(diag.notes, [&](const Note& note) {
    return note.span.file.valid() && !is_inside(note.span) &&
           note.text.find(kCalled) != std::string::npos;
  });
  if (caller == diag.notes.end()) {
    return false;
  }
  const SourceSpan call = caller->span;
  const std::size_t end = caller->text.find(kCalled);
  Note inside{.span = diag.span, .text = "found here, with" + caller->text.substr(0, end + 1)};
  diag.notes.erase(caller);
  diag.notes.insert(diag.notes.begin(), std::move(inside));
  diag.span = call;
  diag.fix.clear();
  return true;
}

void DiagSink::error(DiagKind kind, SourceSpan span, std::string text, std::vector<Note> notes) {
  add({.kind = kind,
       .severity = Severity::kError,
       .span = span,
       .text = std::move(text),
       .notes = std::move(notes),
       .fix = {}});
}

void DiagSink::warning(DiagKind kind, SourceSpan span, std::string text, std::vector<Note> notes) {
  add({.kind = kind,
       .severity = Severity::kWarning,
       .span = span,
       .text = std::move(text),
       .notes = std::move(notes),
       .fix = {}});
}

void DiagSink::add(Diag diag) {
  errors_ += diag.severity == Severity::kError ? 1 : 0;
  diags_.push_back(std::move(diag));
}

std::string joined(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    text += text.empty() ? "" : separator;
    text += part;
  }
  return text;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string in_backticks(std::string_view code) {
  return std::string(1, '`').append(code).append("`");
}

namespace {

constexpr std::size_t kLongestName = 64;  // beyond it nobody misspells, they generate
constexpr std::size_t kMostMeant = 3;

char lower(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
}

// Edits of one byte and swaps of neighbours, letter case apart. Requires: both at most
// kLongestName.
std::size_t distance(std::string_view a, std::string_view b) {
  using Row = std::array<std::size_t, kLongestName + 1>;
  std::array<Row, 3> rows{};  // the row being filled is rows[i % 3]
  for (std::size_t j = 0; j <= b.size(); ++j) {
    rows[0][j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    Row& row = rows[i % 3];
    const Row& above = rows[(i - 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], rows[(i - 2) % 3][j - 2] + 1);
      }
    }
  }
  return rows[a.size() % 3][b.size()];
}

// How far a misspelling may be: a short name is soon another name.
std::size_t edit_limit(std::size_t length) {
  return length < 3 ? 0 : std::min<std::size_t>(3, 1 + (length - 3) / 3);
}

// The one of them that is longer, as `stddev` is for `std`.
std::string_view begun(std::string_view name, std::span<const std::string> candidates) {
  const auto is_longer = [&](const std::string& one) {
    return edit_limit(name.size()) > 0 && one.size() > name.size() && one.starts_with(name);
  };
  const auto found = std::ranges::find_if(candidates, is_longer);
  const bool is_one =
      found != candidates.end() && std::none_of(found + 1, candidates.end(), is_longer);
  return is_one ? std::string_view(*found) : std::string_view();
}

}  // namespace

std::vector<std::string_view> all_closest(std::string_view name,
                                          std::span<const std::string> candidates) {
  std::vector<std::string_view> best;
  std::size_t best_distance = edit_limit(name.size());
  for (const std::string& candidate : candidates) {
    const std::size_t longer = std::max(name.size(), candidate.size());
    const std::size_t shorter = std::min(name.size(), candidate.size());
    if (longer > kLongestName || longer - shorter > best_distance || candidate == name) {
      continue;
    }
    const std::size_t edits = distance(name, candidate);
    if (edits < best_distance) {
      best_distance = edits;
      best.clear();
    }
    if (edits == best_distance && std::ranges::find(best, candidate) == best.end()) {
      best.emplace_back(candidate);
    }
  }
  if (const std::string_view longer = best.empty() ? begun(name, candidates) : "";
      !longer.empty()) {
    best.push_back(longer);
  }
  return best;
}

std::string_view closest(std::string_view name, std::span<const std::string> candidates) {
  const std::vector<std::string_view> best = all_closest(name, candidates);
  return best.empty() ? std::string_view() : best.front();
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates,
                         std::string_view otherwise) {
  const std::vector<std::string_view> best = all_closest(name, candidates);
  if (best.empty()) {
    return std::string(otherwise);
  }
  std::vector<std::string> meant;
  for (std::size_t i = 0; i < std::min(best.size(), kMostMeant); ++i) {
    meant.push_back(in_backticks(best[i]));
  }
  return "; did you mean " + alternatives(meant) + "?";
}

}  // namespace mtf
