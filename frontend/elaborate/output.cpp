// print and assert: at top level by the host, in a function as operations of the unit.

#include <array>

#include "frontend/elaborate/statement.h"
#include "frontend/elaborate/tensors/units.h"

namespace mtf::host {
namespace {

// Text with `{}` for each tensor, which become operands.
std::string as_template(const Pieces& pieces, std::vector<Operand>& operands) {
  std::string text;
  for (const Piece& piece : pieces) {
    if (const auto* operand = std::get_if<Operand>(&piece.node)) {
      operands.push_back(*operand);
      text += piece.numbers.is_plain() ? "{}" : "{:" + to_string(piece.numbers) + "}";
      continue;
    }
    for (const char letter : std::get<std::string>(piece.node)) {
      text += letter;
      if (letter == '{' || letter == '}') {
        text += letter;
      }
    }
  }
  return text;
}

void effect(Units& units, Primitive op, const Pieces& pieces, std::vector<Operand> operands,
            SourceSpan span) {
  OpArgs args;
  args.set("text", as_template(pieces, operands));
  static_cast<void>(apply_op(units, op_of(units.ops, op), operands, std::move(args), span));
}

std::optional<Pieces> pieces_of(Context& c, std::span<const ast::Expr> exprs) {
  std::vector<Pieces> parts;
  for (const ast::Expr& expr : exprs) {
    if (std::optional<Pieces> part = evaluate_pieces(c, expr)) {
      parts.push_back(*std::move(part));
    }
  }
  return parts.size() == exprs.size() ? std::optional(joined(parts)) : std::nullopt;
}

std::string message_of(Context& c, const ast::Assert& assertion) {
  std::string otherwise = "the assertion does not hold";
  if (!assertion.message) {
    return otherwise;
  }
  const std::optional<Pieces> pieces = compute_pieces(c, {&*assertion.message, 1});
  return (pieces ? text_of(c, *pieces) : std::nullopt).value_or(otherwise);
}

void assert_now(Context& c, const ast::Assert& assertion) {
  const Value value = compute(c, assertion.condition);
  const SourceSpan span = assertion.condition.span;
  std::optional<bool> holds;
  if (const auto* tensor = value.get<Tensor>()) {
    if (tensor->type.shape.rank() > 0) {
      c.report.error(
          DiagKind::kWrongType, span,
          "the condition is " + mtf::to_string(tensor->type) + "; `all(…)` makes one bool of it");
      return;
    }
    const std::optional<double> number = c.execution.scalar(tensor->handle);
    holds = number ? std::optional(*number != 0) : std::nullopt;
  } else if (const bool* flag = value.get<bool>()) {
    holds = *flag;
  } else if (!is_unknown(value)) {
    c.report.error(DiagKind::kWrongType, span,
                   "the condition is " + kind_of(value) + ", not a bool" + bool_of_it(value));
  }
  if (holds && !*holds) {
    c.report.error(DiagKind::kAssertion, span, message_of(c, assertion));
  }
}

// In a turn of a bounded loop that changes nothing, all is well.
Operand where_alive(Context& c, const Operand& condition) {
  if (!c.units.recording().alive.valid()) {
    return condition;
  }
  const std::array<Operand, 3> parts{Operand{recorded(c.units, c.units.recording().alive), {}},
                                     condition, Operand{make(true), condition.span}};
  return {
      .value = apply_op(c.units, op_of(c.units.ops, Primitive::kSelect), parts, {}, condition.span),
      .span = condition.span};
}

// False: it does not hold, whatever tensors hold.
bool assert_in_unit(Context& c, const ast::Assert& assertion, SourceSpan span) {
  const Operand condition{.value = evaluate(c, assertion.condition),
                          .span = assertion.condition.span};
  std::optional<Pieces> message = Pieces();
  if (assertion.message) {
    message = evaluate_pieces(c, *assertion.message);
  }
  if (is_unknown(condition.value) || !message) {
    return true;
  }
  if (condition.value.is<Tensor>()) {
    effect(c.units, Primitive::kAssert, *message, {where_alive(c, condition)}, span);
    return true;
  }
  const bool* flag = condition.value.get<bool>();
  if (flag == nullptr) {
    c.report.error(DiagKind::kWrongType, condition.span,
                   "the condition is " + kind_of(condition.value) + ", not a bool" +
                       bool_of_it(condition.value));
  } else if (!*flag) {
    std::vector<Operand> tensors;
    const std::string text = as_template(*message, tensors);
    c.report.error(DiagKind::kAssertion, condition.span,
                   text.empty() ? "the assertion does not hold" : text);
  }
  return flag == nullptr || *flag;
}

}  // namespace

void run_print(Context& c, const ast::Print& print, SourceSpan span) {
  if (!c.units.at_top_level()) {
    if (const std::optional<Pieces> pieces = pieces_of(c, print.parts)) {
      effect(c.units, Primitive::kPrint, *pieces, {}, span);
    }
    return;
  }
  const std::optional<Pieces> pieces = compute_pieces(c, print.parts);
  const std::optional<std::string> text = pieces ? text_of(c, *pieces) : std::nullopt;
  if (text) {
    c.execution.print(*text);
  }
}

void run_assert(Context& c, const ast::Assert& assertion, SourceSpan span) {
  if (c.units.at_top_level()) {
    assert_now(c, assertion);
  } else if (!assert_in_unit(c, assertion, span)) {
    ++c.control.stops;
  }
}

}  // namespace mtf::host
