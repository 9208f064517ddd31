// Errors on their way to the sink.

#include "frontend/elaborate/report.h"

#include <algorithm>

namespace mtf::host {
namespace {

constexpr std::size_t kShownCalls = 6;

}  // namespace

void Reporter::error(DiagKind kind, SourceSpan span, std::string text, std::vector<Note> notes,
                     std::string fix) {
  Diag diag{.kind = kind,
            .severity = Severity::kError,
            .span = span,
            .text = std::move(text),
            .notes = std::move(notes),
            .fix = std::move(fix)};
  add_calls(diag);
  add(std::move(diag));
}

void Reporter::warning(DiagKind kind, SourceSpan span, std::string text, std::vector<Note> notes) {
  Diag diag{.kind = kind,
            .severity = Severity::kWarning,
            .span = span,
            .text = std::move(text),
            .notes = std::move(notes),
            .fix = {}};
  add_calls(diag);
  add(std::move(diag));
}

void Reporter::forward(const DiagSink& from, bool with_calls) {
  for (Diag diag : from.diags()) {
    if (with_calls) {
      add_calls(diag);
    }
    add(std::move(diag));
  }
}

void Reporter::add(Diag diag) {
  failed_ = failed_ || diag.severity == Severity::kError;
  // A name that the resolver did not know is no dim either.
  const DiagKind kind = diag.kind == DiagKind::kUnknownDim ? DiagKind::kUnknownName : diag.kind;
  const bool is_new =
      seen_.insert({kind, diag.span.file.index, diag.span.begin, diag.span.end}).second;
  if (is_new) {
    sink_.add(std::move(diag));
  }
}

void Reporter::add_calls(Diag& diag) const {
  std::size_t shown = 0;
  for (std::size_t end = calls.size(); end > 0;) {  // innermost first
    const CallFrame& frame = calls[end - 1];
    std::size_t begin = end - 1;
    while (begin > 0 && calls[begin - 1].function == frame.function &&
           calls[begin - 1].call == frame.call) {
      --begin;
    }
    const bool is_shown = frame.call == diag.span && end - begin == 1;
    if (is_shown || !frame.call.file.valid()) {  // or an entry, built for its own sake
      end = begin;
      continue;
    }
    std::string text = "in `" + frame.function + "`, called here";
    if (end - begin > 1) {
      text += " " + std::to_string(end - begin) + " times, each inside the other";
    }
    if (++shown == kShownCalls && begin > 0) {
      text += ", after " + std::to_string(begin) + " more calls";
      begin = 0;
    }
    diag.notes.push_back({.span = frame.call, .text = std::move(text)});
    end = begin;
  }
}

Suggestion suggest(std::string_view name, std::span<const std::string> candidates) {
  const std::string_view best = closest(name, candidates);
  if (best.empty()) {
    return {};
  }
  return {.text = "; did you mean `" + std::string(best) + "`?", .fix = std::string(best)};
}

std::string quoted_list(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool last = i + 1 == names.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + ("`" + names[i] + "`");
  }
  return text;
}

}  // namespace mtf::host
