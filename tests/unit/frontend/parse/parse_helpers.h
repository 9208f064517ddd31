// Parsing as the tests see it: a text in, the printed tree or the errors out.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ast.h"
#include "frontend/parse/parse.h"

namespace mtf::test {

struct Parsed {
  SourceMap sources;
  DiagSink diags;
  FileId id;
  std::optional<ast::File> file;

  [[nodiscard]] std::string_view text(SourceSpan span) const;
};

[[nodiscard]] Parsed parse_text(std::string text);

// The printed tree; the errors, if there are any.
[[nodiscard]] std::string tree(std::string text);
// `text` as the value of a `let`, printed.
[[nodiscard]] std::string expression(const std::string& text);
// "2:5 found …" for each error, and "1:3 note: …" for its notes.
[[nodiscard]] std::vector<std::string> errors(std::string text);

// The program at the start of LANGUAGE.md, and one that uses every construct there is.
extern const std::string_view kTwoLayer;
extern const std::string_view kEverything;

}  // namespace mtf::test
