// Before any token: is this text that can be read, and does it look like what it is?

#include <array>
#include <cstdio>

#include "frontend/parse/parse.h"
#include "frontend/parse/token.h"
#include "ir/support/utf8.h"

namespace mtf::parsing {
namespace {

std::string hex(std::string_view prefix, unsigned value, int digits) {
  std::array<char, 16> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%0*X", digits, value);
  return std::string(prefix) + buffer.data();
}

// They reorder what is shown, so that a reader sees other code than runs.
bool is_bidi_control(char32_t code) {
  return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

bool check_text(const Source& source, Problems& problems) {
  const std::string_view text = source.text;
  if (text.size() > kMaxFileBytes) {
    problems.add(DiagKind::kBadText, source.span(0, 0),
                 "the file has " + std::to_string(text.size()) + " bytes, more than " +
                     std::to_string(kMaxFileBytes));
    return false;
  }
  for (std::uint32_t at = 0; at < text.size();) {
    const CodePoint code = first_code_point(text.substr(at, 4));
    if (code.length == 0 || code.value == 0) {
      const unsigned byte = static_cast<unsigned char>(text[at]);
      problems.add(DiagKind::kBadText, source.span(at, at + 1),
                   code.length == 0 ? "the byte " + hex("0x", byte, 2) + " is not UTF-8"
                                    : "a NUL byte in what should be text");
      return false;
    }
    if (is_bidi_control(code.value) && problems.diags.empty()) {  // one tells enough
      Diag warning{.kind = DiagKind::kBadText,
                   .severity = Severity::kWarning,
                   .span = source.span(at, at + code.length),
                   .text = "the invisible character " + hex("U+", code.value, 4) +
                           " changes the order in which this text is shown",
                   .notes = {},
                   .fix = {}};
      problems.diags.push_back(std::move(warning));
    }
    at += code.length;
  }
  return true;
}

}  // namespace mtf::parsing
