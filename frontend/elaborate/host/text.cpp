// Strings with interpolated values, some of which may be tensors that only the device can print.

#include <algorithm>

#include "frontend/elaborate/evaluate.h"
#include "frontend/elaborate/host/results.h"
#include "frontend/elaborate/tensors/units.h"
#include "ir/support/match.h"
#include "ir/support/number.h"

namespace mtf::host {
namespace {

std::string host_text(const Value& value, const NumberFormat& numbers) {
  const auto* whole = value.get<std::int64_t>();
  const auto* dim = value.get<Dim>();
  const auto* real = value.get<double>();
  if (numbers.is_plain() || (whole == nullptr && dim == nullptr && real == nullptr)) {
    return to_string(value);
  }
  if (real == nullptr) {
    return formatted(whole == nullptr ? dim->size : *whole, numbers);
  }
  return numbers.kind == '\0' && numbers.digits < 0 ? padded(to_string(value), numbers)
                                                    : formatted(*real, numbers);
}

bool takes_format(const Value& value) {
  return value.is<std::int64_t>() || value.is<Dim>() || value.is<double>() || value.is<Tensor>() ||
         value.is<Results>() || has_tensor(value) || is_unknown(value);
}

// Tensors inside a list print one by one; the results of a call side by side.
void add_value(Pieces& pieces, const Operand& operand, const NumberFormat& numbers = {}) {
  if (const auto* results = operand.value.get<Results>()) {
    std::vector<Pieces> parts;
    for (const Value& value : *results->items) {
      add_value(parts.emplace_back(), {.value = value, .span = operand.span}, numbers);
    }
    const Pieces all = joined(parts);
    pieces.insert(pieces.end(), all.begin(), all.end());
    return;
  }
  const auto* list = operand.value.get<List>();
  if (list == nullptr || !has_tensor(operand.value)) {
    pieces.push_back({operand.value.is<Tensor>()
                          ? Piece{.node = operand, .numbers = numbers}
                          : Piece{.node = host_text(operand.value, numbers)}});
    return;
  }
  pieces.push_back({.node = "["});
  for (std::size_t i = 0; i < list->items->size(); ++i) {
    if (i > 0) {
      pieces.push_back({.node = ", "});
    }
    add_value(pieces, {.value = (*list->items)[i], .span = operand.span}, numbers);
  }
  pieces.push_back({.node = "]"});
}

}  // namespace

std::optional<Pieces> evaluate_pieces(Context& c, const ast::Expr& expr) {
  Pieces pieces;
  bool known = true;
  const auto add = [&](const ast::Expr& part, const std::string& format) {
    const Value value = evaluate(c, part);
    const NumberFormat numbers = number_format(format).value_or(NumberFormat{});
    if (!format.empty() && !takes_format(value)) {
      c.report.error(DiagKind::kWrongType, part.span,
                     "`:" + format + "` formats a number, and this is " + kind_of(value));
      known = false;
    }
    known = known && !is_unknown(value);
    if (value.is<Nothing>()) {
      c.report.error(DiagKind::kWrongType, part.span, "this has no value to show",
                     called_function(c, part, value));
      known = false;
    }
    add_value(pieces, {.value = value, .span = part.span}, numbers);
  };
  if (const auto* string = std::get_if<ast::String>(&expr.node)) {
    for (const ast::StringPart& part : string->parts) {
      match(
          part.node,  //
          [&](const std::string& text) { pieces.push_back({.node = text}); },
          [&](const ast::Expr& inner) { add(inner, part.format); });
    }
  } else {
    add(expr, "");
  }
  std::size_t bytes = 0;
  for (const Piece& piece : pieces) {
    const auto* text = std::get_if<std::string>(&piece.node);
    bytes += text == nullptr ? 0 : text->size();
  }
  if (bytes > kMaxText) {
    c.report.error(DiagKind::kOverflow, expr.span,
                   "a text of " + std::to_string(bytes) + " bytes; " + std::to_string(kMaxText) +
                       " are the most");
    known = false;
  }
  return known ? std::optional(std::move(pieces)) : std::nullopt;
}

Pieces joined(std::span<const Pieces> parts) {
  const auto has_rows = [](const Piece& piece) {
    const auto* operand = std::get_if<Operand>(&piece.node);
    const auto* tensor = operand == nullptr ? nullptr : operand->value.get<Tensor>();
    return tensor != nullptr && tensor->type.shape.rank() > 0;
  };
  Pieces pieces;
  bool after_rows = false;
  for (const Pieces& part : parts) {
    const bool is_rows = std::ranges::any_of(part, has_rows);
    if (&part != &parts.front()) {
      pieces.push_back({.node = is_rows || after_rows ? "\n" : " "});
    }
    pieces.insert(pieces.end(), part.begin(), part.end());
    after_rows = is_rows;
  }
  return pieces;
}

std::optional<std::string> text_of(Context& c, const Pieces& pieces) {
  std::string text;
  bool known = true;
  for (const Piece& piece : pieces) {
    match(
        piece.node,  //
        [&](const std::string& part) { text += part; },
        [&](const Operand& operand) {
          // Asked of every tensor, known or not: all ranks take part in each.
          const auto part = c.execution.text(operand.value.get<Tensor>()->handle, piece.numbers);
          known = known && part.has_value();
          text += part.value_or("");
        });
  }
  return known ? std::optional(std::move(text)) : std::nullopt;
}

Value evaluate_string(Context& c, const ast::Expr& expr) {
  if (!c.units.calls_are_units()) {
    const std::optional<Pieces> pieces = evaluate_pieces(c, expr);
    if (!pieces) {
      return unknown();
    }
    std::string text;
    for (const Piece& piece : *pieces) {
      if (const auto* tensor = std::get_if<Operand>(&piece.node)) {
        c.report.error(
            DiagKind::kWrongType, tensor->span,
            "the elements of a tensor are not known while a function is built; `print` and "
            "`assert` can show them");
        return unknown();
      }
      text += std::get<std::string>(piece.node);
    }
    return make(std::move(text));
  }
  const std::optional<Pieces> pieces = compute_pieces(c, {&expr, 1});
  const std::optional<std::string> text = pieces ? text_of(c, *pieces) : std::nullopt;
  return text ? make(*text) : unknown();
}

}  // namespace mtf::host
