// Where a keyword is one. Anywhere else it is a name, so that a dim may be called `state`.

#pragma once

#include <span>

#include "frontend/parse/token.h"

namespace mtf::parsing {

struct WordContext {
  std::size_t type = 0;
  std::size_t previous = 0;  // SEP at the start of a statement
  std::size_t last = 0;      // the token before, even at the start of a statement
  std::size_t next = 0;
  bool in_layout = false;    // the statement is a layout declaration
  bool in_for = false;       // or a loop over a range
  bool in_minimize = false;  // or a step, outside of brackets
};

// The type the token has here: its own, or NAME.
[[nodiscard]] std::size_t resolve_keyword(const WordContext& word);

[[nodiscard]] bool is_keyword(std::size_t type);
[[nodiscard]] bool begins_statement(std::size_t keyword);  // or what goes on with one: `else`

[[nodiscard]] bool has_block(std::size_t keyword);        // a statement with `{ }` of statements
[[nodiscard]] bool has_layout_body(std::size_t keyword);  // or of rules
[[nodiscard]] inline bool has_body(std::size_t keyword) {
  return has_block(keyword) || has_layout_body(keyword);
}

// The token after these NEWLINEs, if it can only start a statement, even inside brackets; or null.
[[nodiscard]] const Token* certain_statement(std::span<const Token> raw);

}  // namespace mtf::parsing
