// What ANTLR needs to know of us and we of it. Included by frontend/parse*.cpp only.

#pragma once

#include <span>
#include <vector>

#include <antlr4-runtime.h>

#include "frontend/parse/token.h"
#include "grammar/MtfLexer.h"
#include "grammar/MtfParser.h"

namespace mtf::parsing {

// A token that no rule could take.
struct Mistake {
  std::size_t at = 0;    // its index
  std::size_t rule = 0;  // the rule that met it
  antlr4::misc::IntervalSet expected;
};

// One line in plain words, with a hint where the slip is a known one.
struct Explanation {
  std::string text;
  std::size_t at = 0;  // the index of the token that it is about
};
[[nodiscard]] Explanation explain(const Source& source, std::span<const Token> tokens,
                                  const Mistake& mistake);
// The same for known slips only; empty for others.
[[nodiscard]] std::string explain_slip(const Source& source, std::span<const Token> tokens,
                                       const Mistake& mistake);

// Reports at most one mistake per statement and goes on after it; in a block, if it has one.
class Recovery : public antlr4::DefaultErrorStrategy {
 public:
  Recovery(const Source& source, std::span<const Token> tokens, Problems& problems);

  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException& error) override;
  void recover(antlr4::Parser* parser, std::exception_ptr error) override;
  antlr4::Token* recoverInline(antlr4::Parser* parser) override;
  void sync(antlr4::Parser* parser) override;

 private:
  void report(antlr4::Parser* parser);
  void skip_statement(antlr4::Parser* parser);
  [[nodiscard]] std::size_t statement_at(std::uint32_t offset) const;
  void leave_out_line(std::size_t at);

  const Source& source_;
  std::span<const Token> tokens_;
  Problems& problems_;
  std::vector<bool> reported_;  // by statement
};

}  // namespace mtf::parsing
