// From ANTLR's tree, which is free of mistakes by now, to ours. What only the grammar of words
// could not say is still reported here: numbers that do not fit, comparisons in a row, names where
// expressions stand. Included by frontend/parse*.cpp only.

#pragma once

#include <string>
#include <vector>

#include "frontend/ast.h"
#include "frontend/parse_grammar.h"

namespace mtf::parsing {

struct Builder {
  const Source& source;
  std::span<const Token> tokens;
  Problems& problems;

  [[nodiscard]] const Token& token(const antlr4::Token* symbol) const {
    return tokens[symbol->getTokenIndex()];
  }
  [[nodiscard]] SourceSpan span(antlr4::ParserRuleContext* context) const {
    return source.span(token(context->getStart()).begin, token(context->getStop()).end);
  }
  void error(SourceSpan span, std::string text, DiagKind kind = DiagKind::kSyntax) const {
    if (!problems.enough()) {
      problems.add(kind, span, std::move(text));
    }
  }
};

[[nodiscard]] ast::Stmt build_statement(const Builder& build, MtfParser::StatementContext* context,
                                        bool first_in_block);
[[nodiscard]] ast::Block build_block(const Builder& build, MtfParser::BlockContext* context);
[[nodiscard]] ast::Layout build_layout(const Builder& build, MtfParser::LayoutContext* context);
[[nodiscard]] ast::Fn build_function(const Builder& build, MtfParser::FunctionContext* context);

[[nodiscard]] ast::Expr build_expr(const Builder& build, MtfParser::ExprContext* context);
[[nodiscard]] std::vector<ast::Expr> build_expressions(const Builder& build,
                                                       MtfParser::ExpressionsContext* context);
[[nodiscard]] ast::Expr build_range(const Builder& build, MtfParser::RangeContext* context);
[[nodiscard]] ast::Expr build_primary(const Builder& build, MtfParser::PrimaryContext* context);
[[nodiscard]] ast::Suffix build_suffix(const Builder& build, MtfParser::SuffixContext* context);
[[nodiscard]] ast::TypeExpr build_type(const Builder& build, MtfParser::TypeContext* context);

// Rules as they come; dims without an arrow wait for the next one, whose axes they share.
class RuleList {
 public:
  explicit RuleList(const Builder& build) : build_(build) {}
  void add(MtfParser::RuleItemContext* item);
  [[nodiscard]] std::vector<ast::Rule> take();  // after end()
  void end();                                   // of a line: whoever waits has no axes

 private:
  const Builder& build_;
  std::vector<ast::Name> waiting_;
  std::vector<ast::Rule> rules_;
};

[[nodiscard]] ast::Name build_name(const Builder& build, MtfParser::NameContext* context);
[[nodiscard]] ast::Expr build_string(const Builder& build, MtfParser::StringContext* context);
// The text of a string, which must have no interpolation.
[[nodiscard]] ast::Name build_text(const Builder& build, MtfParser::StringContext* context);
[[nodiscard]] ast::Expr build_number(const Builder& build, const Token& token);

// The expression as the name it must be; an error that says `what` needs one, and no name, if not.
[[nodiscard]] std::optional<ast::Name> name_of(const Builder& build, const ast::Expr& expr,
                                               std::string_view what);

}  // namespace mtf::parsing
