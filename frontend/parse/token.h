// What the phases of the parser hand on: tokens by byte offset, and the problems met on the way.
//
// Only frontend/parse*.cpp include this. A token's type is one of MtfParser's constants.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/diag.h"

namespace mtf::parsing {

struct Token {
  std::size_t type = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;        // equals `begin` where the filter put the token in
  std::uint32_t statement = 0;  // index of the SEP before the innermost statement around it
  std::uint32_t partner = 0;    // of a `{`: the index of its `}`
};

struct Source {
  FileId file;
  std::string_view text;

  [[nodiscard]] std::string_view at(const Token& token) const {
    return text.substr(token.begin, token.end - token.begin);
  }
  [[nodiscard]] SourceSpan span(std::uint32_t begin, std::uint32_t end) const {
    return {.file = file, .begin = begin, .end = end};
  }
  [[nodiscard]] SourceSpan span(const Token& token) const { return span(token.begin, token.end); }
};

struct Problems {
  std::vector<Diag> diags;
  std::size_t errors = 0;
  std::optional<std::uint32_t> at_end;  // where one of them says that the text ends too soon
  bool hopeless = false;                // what follows would only repeat it

  void add(DiagKind kind, SourceSpan span, std::string text, std::vector<Note> notes = {});
  [[nodiscard]] bool enough() const;
  [[nodiscard]] bool ok() const { return errors == 0; }
};

// Encoding, size and characters that deceive the reader; false where the text cannot be read.
[[nodiscard]] bool check_text(const Source& source, Problems& problems);

// All tokens with their NEWLINEs, up to and including EOF.
[[nodiscard]] std::vector<Token> lex(const Source& source, Problems& problems);

// The tokens as the grammar wants them: SEP before each statement, no NEWLINE, keywords resolved,
// every bracket matched, nesting within kMaxNesting.
[[nodiscard]] std::vector<Token> filter(const Source& source, std::span<const Token> raw,
                                        Problems& problems);

[[nodiscard]] bool ends_operand(std::size_t type);
[[nodiscard]] bool is_word(std::size_t type);    // a name or any keyword
[[nodiscard]] bool continues(std::size_t type);  // a line ending in it goes on

// "`let`", "the end of the line"; long tokens are cut.
[[nodiscard]] std::string describe(const Source& source, const Token& token);
// Of `{x:.4f}` and `{x!r}`.
inline constexpr std::string_view kFormats =
    "a string shows a value as it prints, `{x}`, or a number in a format, `{x:.4f}`";
// About a sign that no rule of the lexer knows, behind that name, if one stands before it.
[[nodiscard]] std::string explain_sign(std::string_view text, std::string_view name);
// `text` in backticks, cut where it is long.
[[nodiscard]] std::string backticked(std::string_view text);

}  // namespace mtf::parsing
