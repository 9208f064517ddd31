// Operators and their precedence. The grammar gives operands and operators in a row; from loose to
// tight they bind as in Python: or, and, not, comparisons, + -, * / // %, unary -, **.

#include <array>

#include "frontend/parse/build.h"

namespace mtf::parsing {
namespace {

// An operator, prefix or binary, or an operand. Operands are built before the operators are looked
// at, so that nested brackets need little of the stack.
using Item = std::variant<const Token*, ast::Expr>;

bool is_prefix(const Token* token) {
  return token != nullptr && (token->type == MtfParser::MINUS || token->type == MtfParser::NOT);
}

// What a `-` and digits behind it are together, where digits alone are beyond the greatest integer
// and the sign is theirs: `**` binds tighter.
std::optional<ast::Expr> least_integer(const Builder& build, const Tree* operand,
                                       const Token* next_operator) {
  const auto& parts = operand->children;
  const Token* digits = build.leaf(parts.back());
  const Token* sign = parts.size() > 1 ? build.leaf(parts[parts.size() - 2]) : nullptr;
  const bool is_signed = sign != nullptr && sign->type == MtfParser::MINUS;
  const bool raised = next_operator != nullptr && next_operator->type == MtfParser::POWER;
  return digits != nullptr && is_signed && !raised ? build_least_integer(build, *sign, *digits)
                                                   : std::nullopt;
}

std::vector<Item> row_of(const Builder& build, const Tree* context) {
  std::vector<Item> row;
  row.reserve(context->children.size());
  for (std::size_t i = 0; i < context->children.size(); ++i) {
    antlr4::tree::ParseTree* child = context->children[i];
    if (const Token* op = build.leaf(child); op != nullptr) {
      row.emplace_back(op);
      continue;
    }
    auto* operand = as<MtfParser::OperandContext>(child);
    for (antlr4::tree::ParseTree* part : operand->children) {
      const Token* prefix = build.leaf(part);
      if (!is_prefix(prefix)) {
        break;
      }
      row.emplace_back(prefix);
    }
    const bool is_last = i + 1 == context->children.size();
    const Token* next = is_last ? nullptr : build.leaf(context->children[i + 1]);
    if (std::optional<ast::Expr> least = least_integer(build, operand, next)) {
      row.back() = std::move(*least);
      continue;
    }
    row.emplace_back(build_operand(build, operand));
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
  Climber(const Builder& build, std::vector<Item> row) : build_(build), row_(std::move(row)) {}

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
        build_.error(build_.source.span(*op_at(at_)),
                     "comparisons do not follow each other; write `a < b and b < c`");
      }
      const SourceSpan where = build_.source.span(*op_at(at_++));
      chain.links.push_back({.op = found->op, .op_span = where, .operand = climb(tighter)});
    }
    return whole(std::move(chain));
  }

  ast::Expr prefix(ast::UnaryOp op, Tightness level) {
    const SourceSpan where = build_.source.span(*op_at(at_++));
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
    const SourceSpan where = build_.source.span(*op_at(at_++));
    chain.links.push_back(
        {.op = ast::BinaryOp::kPower, .op_span = where, .operand = climb(Tightness::kUnary)});
    return whole(std::move(chain));
  }

  static ast::Expr whole(ast::Chain chain) {
    const SourceSpan span = join(chain.first->span, chain.links.back().operand.span);
    return {.span = span, .node = std::move(chain)};
  }

  ast::Expr operand() {
    while (op_at(at_) != nullptr) {  // only `not` gets here: `-` binds as tightly
      build_.error(build_.source.span(*op_at(at_++)),
                   "`not` after an operator needs parentheses: `a == (not b)`");
    }
    return std::move(std::get<ast::Expr>(row_[at_++]));
  }

  // Null where an operand stands, and at the end.
  [[nodiscard]] const Token* op_at(std::size_t at) const {
    const auto* op = at < row_.size() ? std::get_if<const Token*>(&row_[at]) : nullptr;
    return op == nullptr ? nullptr : *op;
  }

  [[nodiscard]] bool next_is(std::size_t type) const {
    const Token* op = op_at(at_);
    return op != nullptr && op->type == type;
  }

  [[nodiscard]] const Operator* operator_at(Tightness level) const {
    const Token* op = op_at(at_);
    const Operator* found = op == nullptr ? nullptr : find_operator(op->type);
    return found != nullptr && found->level == level ? found : nullptr;
  }

  const Builder& build_;
  std::vector<Item> row_;
  std::size_t at_ = 0;
};

}  // namespace

ast::Expr build_expr(const Builder& build, const Tree* context) {
  if (context->children.size() == 1) {  // most are
    auto* operand = as<MtfParser::OperandContext>(context->children.front());
    if (!is_prefix(build.leaf(operand->children.front()))) {
      return build_operand(build, operand);
    }
  }
  return Climber(build, row_of(build, context)).run();
}

ast::Expr expr_in(const Builder& build, const Tree* parent) {
  return build_expr(build, first<MtfParser::ExprContext>(parent));
}

std::vector<ast::Expr> expressions_in(const Builder& build, const Tree* parent) {
  std::vector<ast::Expr> result;
  if (const Tree* context = first<MtfParser::ExpressionsContext>(parent); context != nullptr) {
    for (MtfParser::ExprContext* expr : all<MtfParser::ExprContext>(context)) {
      result.push_back(build_expr(build, expr));
    }
  }
  return result;
}

ast::Expr range_in(const Builder& build, const Tree* parent) {
  return build_range(build, first<MtfParser::RangeContext>(parent));
}

ast::Expr build_range(const Builder& build, const Tree* context) {
  const std::vector<MtfParser::ExprContext*> ends = all<MtfParser::ExprContext>(context);
  ast::Expr begin = build_expr(build, ends.front());
  if (ends.size() == 1) {
    return begin;
  }
  ast::Range range{.begin = boxed(std::move(begin)), .end = boxed(build_expr(build, ends.back()))};
  return {.span = build.span(context), .node = std::move(range)};
}

}  // namespace mtf::parsing
