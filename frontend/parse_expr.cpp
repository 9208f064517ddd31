// Operators and their precedence. The grammar gives operands and operators in a row; from loose to
// tight they bind as in Python: or, and, not, comparisons, + -, * / // %, unary -, **.

#include <array>

#include "frontend/parse_build.h"

namespace mtf::parsing {
namespace {

// A row of prefix operators, primaries with their suffixes, and binary operators.
struct Item {
  const Token* op = nullptr;                     // null: an operand
  MtfParser::OperandContext* operand = nullptr;  // without its prefix operators
};

std::vector<Item> row_of(const Builder& build, MtfParser::ExprContext* context) {
  std::vector<Item> row;
  row.reserve(context->children.size());
  const auto push = [&](antlr4::tree::ParseTree* child) {
    auto* leaf = dynamic_cast<antlr4::tree::TerminalNode*>(child);
    if (leaf != nullptr) {
      row.push_back({.op = &build.token(leaf->getSymbol()), .operand = nullptr});
    }
    return leaf != nullptr;
  };
  for (antlr4::tree::ParseTree* child : context->children) {
    if (push(child)) {
      continue;
    }
    auto* operand = dynamic_cast<MtfParser::OperandContext*>(child);
    for (antlr4::tree::ParseTree* part : operand->children) {
      if (!push(part)) {
        row.push_back({.op = nullptr, .operand = operand});
        break;
      }
    }
  }
  return row;
}

enum class Tightness : std::uint8_t { kOr, kAnd, kNot, kCompare, kAdd, kMultiply, kUnary, kPower };

struct Operator {
  std::size_t type;
  ast::BinaryOp op;
  Tightness level;
};

constexpr std::array kOperators = std::to_array<Operator>({
    {MtfParser::OR, ast::BinaryOp::kOr, Tightness::kOr},
    {MtfParser::AND, ast::BinaryOp::kAnd, Tightness::kAnd},
    {MtfParser::EQUAL, ast::BinaryOp::kEqual, Tightness::kCompare},
    {MtfParser::NOT_EQUAL, ast::BinaryOp::kNotEqual, Tightness::kCompare},
    {MtfParser::LESS, ast::BinaryOp::kLess, Tightness::kCompare},
    {MtfParser::LESS_EQUAL, ast::BinaryOp::kLessEqual, Tightness::kCompare},
    {MtfParser::GREATER, ast::BinaryOp::kGreater, Tightness::kCompare},
    {MtfParser::GREATER_EQUAL, ast::BinaryOp::kGreaterEqual, Tightness::kCompare},
    {MtfParser::PLUS, ast::BinaryOp::kAdd, Tightness::kAdd},
    {MtfParser::MINUS, ast::BinaryOp::kSubtract, Tightness::kAdd},
    {MtfParser::STAR, ast::BinaryOp::kMultiply, Tightness::kMultiply},
    {MtfParser::SLASH, ast::BinaryOp::kDivide, Tightness::kMultiply},
    {MtfParser::FLOOR, ast::BinaryOp::kFloorDivide, Tightness::kMultiply},
    {MtfParser::PERCENT, ast::BinaryOp::kModulo, Tightness::kMultiply},
    {MtfParser::POWER, ast::BinaryOp::kPower, Tightness::kPower},
});

const Operator* find_operator(std::size_t type) {
  for (const Operator& entry : kOperators) {
    if (entry.type == type) {
      return &entry;
    }
  }
  return nullptr;
}

ast::ExprPtr boxed(ast::Expr expr) {
  return std::make_unique<ast::Expr>(std::move(expr));
}

// Precedence climbing over a row; as deep as the prefix operators and `**` in it, which the filter
// has counted.
class Climber {
 public:
  Climber(const Builder& build, const std::vector<Item>& row) : build_(build), row_(row) {}

  ast::Expr run() { return climb(Tightness::kOr); }

 private:
  ast::Expr climb(Tightness level) {
    if (level == Tightness::kPower) {
      return power();
    }
    if (level == Tightness::kUnary && next_is(MtfParser::MINUS)) {
      return prefix(ast::UnaryOp::kNegate, Tightness::kUnary);
    }
    if (level == Tightness::kNot && next_is(MtfParser::NOT)) {
      return prefix(ast::UnaryOp::kNot, Tightness::kNot);
    }
    const auto tighter = static_cast<Tightness>(static_cast<std::uint8_t>(level) + 1);
    ast::Expr first = climb(tighter);
    if (operator_at(level) == nullptr) {
      return first;
    }
    ast::Chain chain{.first = boxed(std::move(first)), .links = {}};
    while (const Operator* found = operator_at(level)) {
      if (level == Tightness::kCompare && !chain.links.empty()) {
        build_.error(build_.source.span(*row_[at_].op),
                     "comparisons do not follow each other; write `a < b and b < c`");
      }
      const SourceSpan where = build_.source.span(*row_[at_++].op);
      chain.links.push_back({.op = found->op, .op_span = where, .operand = climb(tighter)});
    }
    return whole(std::move(chain));
  }

  ast::Expr prefix(ast::UnaryOp op, Tightness level) {
    const SourceSpan where = build_.source.span(*row_[at_++].op);
    ast::Expr operand = climb(level);
    const SourceSpan span = join(where, operand.span);
    return {.span = span, .node = ast::Unary{.op = op, .operand = boxed(std::move(operand))}};
  }

  ast::Expr power() {
    ast::Expr base = operand();
    if (operator_at(Tightness::kPower) == nullptr) {
      return base;
    }
    ast::Chain chain{.first = boxed(std::move(base)), .links = {}};
    const SourceSpan where = build_.source.span(*row_[at_++].op);
    chain.links.push_back(
        {.op = ast::BinaryOp::kPower, .op_span = where, .operand = climb(Tightness::kUnary)});
    return whole(std::move(chain));
  }

  static ast::Expr whole(ast::Chain chain) {
    const SourceSpan span = join(chain.first->span, chain.links.back().operand.span);
    return {.span = span, .node = std::move(chain)};
  }

  ast::Expr operand() {
    while (row_[at_].operand == nullptr) {  // only `not` gets here: `-` binds as tightly
      build_.error(build_.source.span(*row_[at_++].op),
                   "`not` after an operator needs parentheses: `a == (not b)`");
    }
    MtfParser::OperandContext* context = row_[at_++].operand;
    ast::Postfix postfix;
    for (antlr4::tree::ParseTree* child : context->children) {
      if (auto* primary = dynamic_cast<MtfParser::PrimaryContext*>(child); primary != nullptr) {
        postfix.base = boxed(build_primary(build_, primary));
      } else if (auto* suffix = dynamic_cast<MtfParser::SuffixContext*>(child); suffix != nullptr) {
        postfix.suffixes.push_back(build_suffix(build_, suffix));
      }
    }
    if (postfix.suffixes.empty()) {
      return std::move(*postfix.base);
    }
    const SourceSpan span = join(postfix.base->span, postfix.suffixes.back().span);
    return {.span = span, .node = std::move(postfix)};
  }

  bool next_is(std::size_t type) const {
    return at_ < row_.size() && row_[at_].op != nullptr && row_[at_].op->type == type;
  }

  const Operator* operator_at(Tightness level) const {
    if (at_ >= row_.size() || row_[at_].op == nullptr) {
      return nullptr;
    }
    const Operator* found = find_operator(row_[at_].op->type);
    return found != nullptr && found->level == level ? found : nullptr;
  }

  const Builder& build_;
  const std::vector<Item>& row_;
  std::size_t at_ = 0;
};

}  // namespace

ast::Expr build_expr(const Builder& build, MtfParser::ExprContext* context) {
  const std::vector<Item> row = row_of(build, context);
  return Climber(build, row).run();
}

std::vector<ast::Expr> build_expressions(const Builder& build,
                                         MtfParser::ExpressionsContext* context) {
  std::vector<ast::Expr> result;
  if (context != nullptr) {
    for (MtfParser::ExprContext* expr : context->expr()) {
      result.push_back(build_expr(build, expr));
    }
  }
  return result;
}

ast::Expr build_range(const Builder& build, MtfParser::RangeContext* context) {
  const std::vector<MtfParser::ExprContext*> ends = context->expr();
  ast::Expr begin = build_expr(build, ends.front());
  if (ends.size() == 1) {
    return begin;
  }
  ast::Range range{.begin = boxed(std::move(begin)), .end = boxed(build_expr(build, ends.back()))};
  return {.span = build.span(context), .node = std::move(range)};
}

}  // namespace mtf::parsing
