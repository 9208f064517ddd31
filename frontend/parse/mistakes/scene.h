// What those who recognise a slip look at: the token that did not fit, and the words around it.
// Included by frontend/parse/mistakes/*.cpp only.

#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "frontend/parse/grammar.h"
#include "grammar/MtfParser.h"

namespace mtf::parsing {

struct Scene {
  const Source& source;
  std::span<const Token> tokens;
  const Mistake& mistake;

  [[nodiscard]] const Token& token(std::ptrdiff_t offset) const {
    const auto at = static_cast<std::ptrdiff_t>(mistake.at) + offset;
    return tokens[at < 0 ? 0 : std::min(static_cast<std::size_t>(at), tokens.size() - 1)];
  }
  [[nodiscard]] std::size_t type(std::ptrdiff_t offset) const { return token(offset).type; }
  [[nodiscard]] std::string_view text(std::ptrdiff_t offset) const {
    return source.at(token(offset));
  }
  // The first word of the statement, and its distance from the mistake.
  [[nodiscard]] const Token& head() const {
    return tokens[std::min<std::size_t>(token(0).statement + 1, tokens.size() - 1)];
  }
  [[nodiscard]] std::size_t position() const { return mistake.at - token(0).statement - 1; }
  [[nodiscard]] bool expects(std::size_t type) const { return mistake.expected.contains(type); }
  [[nodiscard]] bool at_line_end() const {
    return type(0) == MtfParser::SEP || type(0) == MtfParser::EOF ||
           type(0) == MtfParser::CLOSE_BRACE;
  }
};

// Of the form of one statement, as `minimize(loss, rule)`; empty: it is none of those
// (statements.cpp).
[[nodiscard]] std::string statement_slip(const Scene& scene);
// Where something gets a name, or a layout its rules, as `let a = 1, b = 2`; empty: none of those
// (bindings.cpp).
[[nodiscard]] std::string binding_slip(const Scene& scene);
// Of what stands in brackets, as `x[:, 0]`; empty: none of those (brackets.cpp).
[[nodiscard]] std::string bracket_slip(const Scene& scene);
// What the first word of the statement, the token before the mistake, may have been meant to be
// (misspelt.cpp).
[[nodiscard]] std::string misspelt_head(const Scene& scene);

}  // namespace mtf::parsing
