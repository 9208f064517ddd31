// From ANTLR's tree, which is free of mistakes by now, to ours. What only the grammar of words
// could not say is still reported here: numbers that do not fit, comparisons in a row, names where
// expressions stand. Included by frontend/parse*.cpp only.

#pragma once

#include <string>
#include <typeinfo>
#include <vector>

#include "frontend/ast.h"
#include "frontend/parse/grammar.h"

namespace mtf::parsing {

using Tree = antlr4::ParserRuleContext;

struct Builder {
  const Source& source;
  std::span<const Token> tokens;
  Problems& problems;

  [[nodiscard]] const Token& token(const antlr4::Token* symbol) const {
    return tokens[symbol->getTokenIndex()];
  }
  [[nodiscard]] SourceSpan span(const Tree* context) const {
    return source.span(token(context->start).begin, token(context->stop).end);
  }
  // The token a child is, or null.
  [[nodiscard]] const Token* leaf(antlr4::tree::ParseTree* child) const {
    const bool is_leaf = typeid(*child) == typeid(antlr4::tree::TerminalNodeImpl);
    return is_leaf ? &tokens[static_cast<std::size_t>(child->getSourceInterval().a)] : nullptr;
  }
  // The first child that is a token of this type, or null.
  [[nodiscard]] const Token* leaf(const Tree* context, std::size_t type) const {
    for (antlr4::tree::ParseTree* child : context->children) {
      if (const Token* found = leaf(child); found != nullptr && found->type == type) {
        return found;
      }
    }
    return nullptr;
  }
  void error(SourceSpan span, std::string text, DiagKind kind = DiagKind::kSyntax) const {
    if (!problems.enough()) {
      problems.add(kind, span, std::move(text));
    }
  }
};

// The child as a T, if that is what it is. T is the very class of a node, so that this is a
// comparison; a dynamic_cast, as in the generated accessors, costs as much as parsing.
template <typename T>
[[nodiscard]] T* as(antlr4::tree::ParseTree* child) {
  return typeid(*child) == typeid(T) ? static_cast<T*>(child) : nullptr;
}

template <typename T>
[[nodiscard]] std::vector<T*> all(const Tree* context) {
  std::vector<T*> result;
  for (antlr4::tree::ParseTree* child : context->children) {
    if (T* found = as<T>(child); found != nullptr) {
      result.push_back(found);
    }
  }
  return result;
}

// The first child that is a T; null if none.
template <typename T>
[[nodiscard]] T* first(const Tree* context) {
  for (antlr4::tree::ParseTree* child : context->children) {
    if (T* found = as<T>(child); found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

// `build_x` takes the context of an x; `x_in` takes its parent, and the first x in it.
[[nodiscard]] ast::Stmt build_statement(const Builder& build, const Tree* context,
                                        bool first_in_block);
[[nodiscard]] ast::Block build_block(const Builder& build, const Tree* context);
[[nodiscard]] ast::Block block_in(const Builder& build, const Tree* parent);
[[nodiscard]] ast::Layout build_layout(const Builder& build, const Tree* context);
[[nodiscard]] ast::Expect build_expect(const Builder& build, const Tree* context);
[[nodiscard]] ast::Fn build_function(const Builder& build, const Tree* context);

[[nodiscard]] ast::Expr build_expr(const Builder& build, const Tree* context);
[[nodiscard]] ast::Expr expr_in(const Builder& build, const Tree* parent);
[[nodiscard]] std::vector<ast::Expr> expressions_in(const Builder& build, const Tree* parent);
[[nodiscard]] ast::Expr build_range(const Builder& build, const Tree* context);
[[nodiscard]] ast::Expr range_in(const Builder& build, const Tree* parent);
[[nodiscard]] ast::Expr build_operand(const Builder& build, const Tree* context);  // no prefixes
[[nodiscard]] ast::TypeExpr build_type(const Builder& build, const Tree* context);

// Rules as they come; dims without an arrow wait for the next one, whose axes they share.
class RuleList {
 public:
  explicit RuleList(const Builder& build) : build_(build) {}
  void add(const Tree* item);
  [[nodiscard]] std::vector<ast::Rule> take();  // after end()
  void end();                                   // of a line: whoever waits has no axes

 private:
  const Builder& build_;
  std::vector<ast::Name> waiting_;
  std::vector<ast::Rule> rules_;
};

[[nodiscard]] ast::Name build_name(const Builder& build, const Tree* context);
[[nodiscard]] ast::Name name_in(const Builder& build, const Tree* parent);
[[nodiscard]] ast::Expr build_string(const Builder& build, const Tree* context);
// The text of a string, which must have no interpolation.
[[nodiscard]] ast::Name build_text(const Builder& build, const Tree* context);
[[nodiscard]] ast::Expr build_number(const Builder& build, const Token& token);
// The least integer, if that is what `-` and these digits are.
[[nodiscard]] std::optional<ast::Expr> build_least_integer(const Builder& build, const Token& sign,
                                                           const Token& digits);

// The expression as the name it must be; an error that says `what` needs one, and what `hint` adds
// to that, and no name, if not.
[[nodiscard]] std::optional<ast::Name> name_of(const Builder& build, const ast::Expr& expr,
                                               std::string_view what, std::string_view hint = "");

}  // namespace mtf::parsing
