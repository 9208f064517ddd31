// Errors on their way to the sink.

#include "frontend/elaborate/report.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace mtf::host {
namespace {

constexpr std::size_t kShownCalls = 6;

// A place in the call itself, as an argument: the call says no more of it.
bool is_within(SourceSpan place, SourceSpan call) {
  return place.file == call.file && place.begin >= call.begin && place.end <= call.end;
}

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

void Reporter::leave_out(DiagKind kind, SourceSpan span) {
  tell_of({kind, span.file.index, span.begin, span.end, 0, ""});
}

void Reporter::forget_since(std::size_t told) {
  failures_ = 0;
  declared_twice_.clear();
  missing_.clear();
  too_deep_.clear();
  for (; told_.size() > told; told_.pop_back()) {
    seen_.erase(told_.back());
  }
}

bool Reporter::tell_of(Place place) {
  const auto [at, is_new] = seen_.insert(std::move(place));
  if (is_new) {
    told_.push_back(at);
  }
  return is_new;
}

void Reporter::forward(const DiagSink& from, bool with_calls) {
  for (Diag diag : from.diags()) {
    if (with_calls) {
      add_calls(diag);
    }
    add(std::move(diag));
  }
}

bool Reporter::was_too_deep(const std::string& function) {
  if (too_deep_.contains(function)) {
    return true;
  }
  too_deep_.insert(function);
  for (const CallFrame& call : calls) {
    too_deep_.insert(call.function);
  }
  return false;
}

void Reporter::add(Diag diag) {
  if (move_to_caller(diag, [this](FileId file) { return library_.contains(file.index); })) {
    diag.span = argument_meant(diag.span, diag.text);
  }
  failures_ += diag.severity == Severity::kError ? 1 : 0;
  // A name that the resolver did not know is no dim and has no value either.
  const DiagKind kind = diag.kind == DiagKind::kUnknownDim ? DiagKind::kUnknownName : diag.kind;
  const std::string text = diag.span.file.valid() ? "" : diag.text;
  // One layout that does not fit says nothing of the others: each of their rules counts.
  const bool has_rule = is_of_layout(kind) && !diag.notes.empty();
  const std::uint32_t rule = has_rule ? diag.notes.front().span.begin : 0;
  const bool is_new =
      tell_of({kind, diag.span.file.index, diag.span.begin, diag.span.end, rule, text});
  if (is_new) {
    sink_.add(std::move(diag));
  }
}

void Reporter::add_calls(Diag& diag) const {
  std::vector<const CallFrame*> frames;  // innermost first, those of a recursion once
  std::map<std::tuple<std::string_view, std::int32_t, std::uint32_t>, std::size_t> times;
  for (std::size_t i = calls.size(); i-- > 0;) {
    const CallFrame& frame = calls[i];
    if (!frame.call.file.valid()) {  // an entry, built for its own sake
      continue;
    }
    if (times[{frame.function, frame.call.file.index, frame.call.begin}]++ == 0) {
      frames.push_back(&frame);
    }
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const CallFrame& frame = *frames[i];
    const std::size_t count = times[{frame.function, frame.call.file.index, frame.call.begin}];
    if (is_within(diag.span, frame.call) && count == 1) {
      continue;
    }
    std::string text = call_note(frame.function, frame.call).text;
    text += count > 1 ? " " + std::to_string(count) + " times, each inside the other" : "";
    if (diag.notes.size() + 1 >= kShownCalls && i + 1 < frames.size()) {
      text += ", after " + std::to_string(frames.size() - i - 1) + " more calls";
      i = frames.size();
    }
    diag.notes.push_back({.span = frame.call, .text = std::move(text)});
  }
}

// Of the arguments the only one whose dim the text names; otherwise the call.
SourceSpan Reporter::argument_meant(SourceSpan call, const std::string& text) const {
  const auto frame = std::ranges::find(calls, call, &CallFrame::call);
  std::vector<SourceSpan> meant;
  if (frame != calls.end()) {
    for (const auto& [dim, span] : frame->dims) {
      if (text.find("`" + dim + "`") != std::string::npos) {
        meant.push_back(span);
      }
    }
  }
  return meant.size() == 1 ? meant.front() : call;
}

Suggestion suggest(std::string_view name, std::span<const std::string> candidates) {
  return {.text = did_you_mean(name, candidates), .fix = std::string(closest(name, candidates))};
}

std::string quoted_list(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool last = i + 1 == names.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + ("`" + names[i] + "`");
  }
  return text;
}

std::string there_is(std::span<const std::string> names) {
  return "; there is " + (names.empty() ? "none" : quoted_list(names));
}

}  // namespace mtf::host
