// One message is a place, a label, a text and an excerpt; an error and its notes differ in the
// label.

#include "frontend/diagnostics.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "ir/support/utf8.h"

namespace mtf {
namespace {

constexpr std::size_t kMostShown = 200;  // messages; nobody reads more, and a line may be long
constexpr std::size_t kMostInJson = 1000;

constexpr std::size_t kExcerptWidth = 160;  // code points; of a longer line, a part is shown
constexpr std::size_t kContextBefore = 60;

struct Style {
  std::string_view label;
  std::string_view color;
};

constexpr std::string_view kReplacement = "\uFFFD";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kReset = "\x1b[0m";
constexpr std::string_view kCaretColor = "\x1b[1;32m";
constexpr Style kErrorStyle{.label = "error", .color = "\x1b[1;31m"};
constexpr Style kWarningStyle{.label = "warning", .color = "\x1b[1;35m"};
constexpr Style kNoteStyle{.label = "note", .color = "\x1b[1;36m"};

std::string painted(std::string_view text, std::string_view color, ColorMode mode) {
  if (mode == ColorMode::kPlain) {
    return std::string(text);
  }
  return std::string(color) + std::string(text) + std::string(kReset);
}

// One code point as its bytes, and what it is. A broken sequence is one byte of U+FFFD.
struct Glyph {
  std::string_view bytes;
  char32_t code = 0;
};

Glyph next_glyph(std::string_view text) {
  const CodePoint code = first_code_point(text);
  return code.length == 0 ? Glyph{.bytes = text.substr(0, 1), .code = 0xFFFD}
                          : Glyph{.bytes = text.substr(0, code.length), .code = code.value};
}

bool is_control(char32_t code) {
  return (code < 0x20 && code != '\t') || (code >= 0x7F && code < 0xA0) ||
         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFFFD;
}

std::string_view shown_as(const Glyph& glyph) {
  if (glyph.code == '\n') {  // of a tensor in the message of an assertion
    return " ";
  }
  return is_control(glyph.code) ? kReplacement : glyph.bytes;
}

// Columns of a terminal that a character fills.
std::size_t width(char32_t code) {
  if (is_control(code)) {
    return 1;  // of what is shown for it
  }
  return display_width(code);
}

std::string safe(std::string_view text) {
  std::string result;
  for (; !text.empty();) {
    const Glyph glyph = next_glyph(text);
    result += shown_as(glyph);
    text.remove_prefix(glyph.bytes.size());
  }
  return result;
}

// Code points [first, last) of a line; all of it where it is not long.
struct Window {
  std::size_t first = 0;
  std::size_t last = 0;
};

Window window_of(std::string_view line, std::size_t begin) {
  const std::size_t count = code_points(line);
  const std::size_t first = count <= kExcerptWidth ? 0 : begin - std::min(begin, kContextBefore);
  return {.first = first, .last = std::min(count, first + kExcerptWidth)};
}

// The line with carets under its code points [begin, end), counted from 0.
std::string excerpt(std::string_view line, std::size_t begin, std::size_t end, ColorMode color) {
  const Window window = window_of(line, begin);
  std::string shown = window.first > 0 ? "  …" : "  ";
  std::string before = window.first > 0 ? "   " : "  ";
  std::string underline;
  for (std::size_t position = 0; !line.empty() && position < window.last; ++position) {
    const Glyph glyph = next_glyph(line);
    line.remove_prefix(glyph.bytes.size());
    if (position < window.first) {
      continue;
    }
    const std::size_t columns = width(glyph.code);
    shown += shown_as(glyph);
    if (position < begin) {
      before += glyph.code == '\t' ? "\t" : std::string(columns, ' ');
    } else if (position < end) {
      underline.append(columns, '~');
    }
  }
  underline.resize(std::max<std::size_t>(underline.size(), 1), '~');
  underline.front() = '^';
  return shown + (line.empty() ? "\n" : "…\n") + before + painted(underline, kCaretColor, color) +
         "\n";
}

std::string message(SourceSpan span, const SourceMap& sources, const Style& style,
                    std::string_view text, std::string_view slug_text, ColorMode color) {
  std::string result;
  if (span.file.valid()) {
    const Place place = sources.place(span.file, span.begin);
    const std::string where = safe(sources.file(span.file).name) + ":" +
                              std::to_string(place.line) + ":" + std::to_string(place.column) + ":";
    result = painted(where, kBold, color) + " ";
  }
  result += painted(std::string(style.label) + ":", style.color, color) + " " + safe(text);
  result += slug_text.empty() ? "\n" : " [" + std::string(slug_text) + "]\n";
  if (!span.file.valid()) {
    return result;
  }
  const Place begin = sources.place(span.file, span.begin);
  const Place end = sources.place(span.file, span.end);
  const std::string_view line = sources.line(span.file, begin.line);
  const std::size_t past =
      begin.line == end.line ? static_cast<std::size_t>(end.column) - 1 : std::string_view::npos;
  return result + excerpt(line, static_cast<std::size_t>(begin.column) - 1, past, color);
}

nlohmann::ordered_json place_json(SourceSpan span, const SourceMap& sources) {
  const Place begin = span.file.valid() ? sources.place(span.file, span.begin) : Place{};
  const Place end = span.file.valid() ? sources.place(span.file, span.end) : Place{};
  return {{"file", span.file.valid() ? sources.file(span.file).name : ""},
          {"line", begin.line},
          {"column", begin.column},
          {"end_line", end.line},
          {"end_column", end.column}};
}

// The word of "did you mean `x`?", where what is written may be meant by it.
std::string word_meant(std::string_view text, std::string_view written) {
  constexpr std::string_view kBegin = "did you mean `";
  constexpr std::string_view kEnd = "`?";
  const std::size_t at = text.rfind(kBegin);
  if (at == std::string_view::npos || !text.ends_with(kEnd)) {
    return {};
  }
  const std::size_t begin = at + kBegin.size();
  const std::string meant(text.substr(begin, text.size() - kEnd.size() - begin));
  const bool is_named = text.find(in_backticks(written)) < at;
  return is_named || closest(written, std::array{meant}) == meant ? meant : "";
}

// What takes the place of what is written there: in quotes where that is, which no `fix` has.
std::string fix_of(const Diag& diag, const SourceMap& sources) {
  if (!diag.span.file.valid()) {
    return diag.fix;
  }
  std::string_view written = sources.file(diag.span.file).text;
  written = written.substr(diag.span.begin, diag.span.end - diag.span.begin);
  const bool is_quoted = written.size() > 1 && written.starts_with('"') && written.ends_with('"');
  if (is_quoted) {
    written = written.substr(1, written.size() - 2);
  }
  std::string fix = diag.fix.empty() ? word_meant(diag.text, written) : diag.fix;
  return is_quoted && !fix.empty() && !fix.starts_with('"') ? "\"" + fix + "\"" : fix;
}

}  // namespace

std::string render(const Diag& diag, const SourceMap& sources, ColorMode color) {
  const Style& style = diag.severity == Severity::kError ? kErrorStyle : kWarningStyle;
  std::string result = message(diag.span, sources, style, diag.text, slug(diag.kind), color);
  for (const Note& note : diag.notes) {
    result += message(note.span, sources, kNoteStyle, note.text, {}, color);
  }
  return result;
}

std::string render(std::span<const Diag> diags, const SourceMap& sources, ColorMode color) {
  std::string result;
  for (const Diag& diag : diags.first(std::min(diags.size(), kMostShown))) {
    result += render(diag, sources, color);
  }
  if (diags.size() > kMostShown) {
    result += "and " + std::to_string(diags.size() - kMostShown) + " more messages\n";
  }
  return result;
}

std::string render_json(std::span<const Diag> diags, const SourceMap& sources, bool on_one_line,
                        std::span<const Remark> remarks) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const auto add = [&](SourceSpan span, Severity severity, std::string_view slug_text,
                       std::string_view text) -> nlohmann::ordered_json& {
    nlohmann::ordered_json item = place_json(span, sources);
    item["severity"] = severity == Severity::kError ? "error" : "warning";
    item["slug"] = slug_text;
    item["text"] = text;
    item["notes"] = nlohmann::ordered_json::array();
    return list.emplace_back(std::move(item));
  };
  for (const Diag& diag : diags.first(std::min(diags.size(), kMostInJson))) {
    nlohmann::ordered_json& item = add(diag.span, diag.severity, slug(diag.kind), diag.text);
    for (const Note& note : diag.notes) {
      nlohmann::ordered_json entry = place_json(note.span, sources);
      entry["text"] = note.text;
      item["notes"].push_back(std::move(entry));
    }
    item["fix"] = fix_of(diag, sources);
  }
  for (const Remark& remark : remarks) {
    add({}, Severity::kError, remark.slug, remark.text)["fix"] = "";
  }
  nlohmann::ordered_json root = {{"diagnostics", std::move(list)}};
  if (diags.size() > kMostInJson) {
    root["more"] = diags.size() - kMostInJson;
  }
  return root.dump(on_one_line ? -1 : 2, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

std::string render_json(const Remark& remark) {
  return render_json({}, SourceMap(), /*on_one_line=*/true, std::span(&remark, 1)) + "\n";
}

}  // namespace mtf
