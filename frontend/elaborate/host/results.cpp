#include "frontend/elaborate/host/results.h"

namespace mtf::host {
namespace {

// f(…), by its name; null if the expression is none.
const ast::Fn* function_called(Context& c, const ast::Expr& expr) {
  const auto* postfix = std::get_if<ast::Postfix>(&expr.node);
  const ast::NameRef* name =
      postfix == nullptr || postfix->suffixes.size() != 1 ? nullptr : ast::as_name(*postfix->base);
  const Binding* binding = name == nullptr ? nullptr : c.names.scope->find(name->text).binding;
  const auto* function = binding == nullptr ? nullptr : binding->value.get<Function>();
  return function == nullptr ? nullptr : function->fn;
}

// fn f(x) { x + 1 }: where others give back what stands last.
Note unreturned(const ast::Fn& fn) {
  const ast::Stmt* last = fn.body.statements.empty() ? nullptr : &fn.body.statements.back();
  const auto* binding = last == nullptr ? nullptr : std::get_if<ast::Binding>(&last->node);
  if (last != nullptr && std::holds_alternative<ast::Evaluate>(last->node)) {
    return {.span = last->span, .text = "`return` before this would hand it to who calls"};
  }
  if (binding != nullptr) {
    return {.span = last->span,
            .text = "`return " + binding->names.front().text +
                    "` behind this would hand it to who calls"};
  }
  return {.span = fn.name.span, .text = "`" + fn.name.text + "` is declared here"};
}

}  // namespace

std::vector<Note> called_function(Context& c, const ast::Expr& expr, const Value& value) {
  const ast::Fn* fn = function_called(c, expr);
  if (fn == nullptr) {
    return {};
  }
  return {value.is<Nothing>()
              ? unreturned(*fn)
              : Note{.span = fn->name.span, .text = "`" + fn->name.text + "` is declared here"}};
}

Value some_value(Context& c, const ast::Expr& expr, Value value, std::string_view use) {
  if (value.is<Nothing>()) {
    c.report.error(DiagKind::kWrongType, expr.span, "this returns nothing " + std::string(use),
                   called_function(c, expr, value));
    return unknown();
  }
  return value;
}

}  // namespace mtf::host
