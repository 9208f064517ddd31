// `gradient dy { … }`: a function says itself what its gradient is.
//
// The results leave the function as fresh values. Whoever differentiates them runs the block, on
// what the function's names stood for, instead of asking the operations of the body.

#include <algorithm>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/precision/precision.h"
#include "frontend/elaborate/statement.h"
#include "ir/support/number.h"

namespace mtf::host {
namespace {

bool is_differentiable(const Value& value) {
  const auto* tensor = value.get<Tensor>();
  return tensor != nullptr && is_float(tensor->type.dtype);
}

struct Rule {
  Context& c;
  const ast::Fn& fn;
  const ast::Gradient& gradient;
  std::shared_ptr<Scope> scope;  // of the body
  std::int32_t frame = -1;
  std::optional<Precision> precision;  // of the body
  std::vector<Operand> by;             // parameters

  [[nodiscard]] std::string name_of(std::size_t i) const {
    return "`" + by[i].value.get<Tensor>()->name + "`";
  }

  [[nodiscard]] std::string names() const {
    std::string text;
    for (std::size_t i = 0; i < by.size(); ++i) {
      text += (text.empty() ? "" : ", ") + name_of(i);
    }
    return text;
  }

  // Of the value in that place of the last `return`.
  [[nodiscard]] SourceSpan span_of(std::size_t i) const {
    const std::vector<ast::Stmt>& statements = gradient.body.statements;
    const auto* values =
        statements.empty() ? nullptr : std::get_if<ast::Return>(&statements.back().node);
    return values != nullptr && i < values->values.size() ? values->values[i].span
                                                          : gradient.names.front().span;
  }

  // What the block gives, in the order of the parameters: returned so, or bound to `dx` for `x`.
  [[nodiscard]] Values run(std::span<const ValueId> upstream) const {
    const Restore inner(c.names.scope, std::make_shared<Scope>(scope, c.units.serial()));
    const Restore result(c.control.result, nothing());
    const Restore own(c.control.gradient, static_cast<const ast::Gradient*>(nullptr));
    const Restore path(c.variables.call_name, std::string());
    const Restore in_frame(c.units.frame, std::int32_t{frame});
    for (std::size_t i = 0; i < upstream.size(); ++i) {
      const ast::Name& name = gradient.names[i];
      c.names.scope->declare(
          name.text,
          {.value = recorded(c.units, upstream[i]), .kind = NameKind::kLet, .span = name.span});
    }
    static_cast<void>(run_statements(c, gradient.body.statements));
    const Value& given = c.control.result;
    if (const auto* results = given.get<Results>()) {
      return *results->items;
    }
    if (const auto* list = given.get<List>()) {
      return *list->items;
    }
    return given.is<Nothing>() ? bound_by_name() : Values{given};
  }

  [[nodiscard]] Values bound_by_name() const {
    Values values;
    for (const Operand& parameter : by) {
      const Binding* found = c.names.scope->own("d" + parameter.value.get<Tensor>()->name);
      values.push_back(found == nullptr ? nothing() : found->value);
    }
    return values;
  }

  // nullopt after an error.
  [[nodiscard]] std::optional<ValueId> fit(std::size_t i, const Value& value) const {
    const TensorType& wanted = by[i].value.get<Tensor>()->type;
    const auto* tensor = value.get<Tensor>();
    const bool fits = tensor != nullptr ? tensor->type.dtype == wanted.dtype &&
                                              same_dims(tensor->type.shape, wanted.shape)
                                        : is_number(value);
    const SourceSpan span = span_of(i);
    if (!fits && !is_unknown(value)) {
      const std::string name = name_of(i);
      c.report.error(value.is<Nothing>() ? DiagKind::kMissingArgument : DiagKind::kDimSize, span,
                     value.is<Nothing>()
                         ? "`gradient` of `" + fn.name.text + "` gives none for " + name +
                               "; `return` one for each of " + names() + ", or bind `let d" +
                               by[i].value.get<Tensor>()->name + " = …`"
                         : "the gradient of " + name + " is " + kind_of(value) + "; " + name +
                               " is " + mtf::to_string(wanted));
    }
    return fits ? fitted(c.units, {.value = value, .span = span}, wanted) : std::nullopt;
  }

  std::vector<ValueId> operator()(std::span<const ValueId> upstream) const {
    std::vector<ValueId> gradients(by.size());
    // What it computes is computed there, though the body may have had the same: it was not to be
    // kept. What is kept are the body's names.
    Builder& builder = c.units.recording().builder;
    const Recomputation outer = builder.recompute();
    const auto again = static_cast<std::int32_t>(builder.program().values.size());
    builder.recompute({.block = outer.block, .again = again, .of = {}});
    const Restore as_body(c.units.precision, precision);
    Values values = run(upstream);
    builder.recompute(outer);
    if (std::ranges::any_of(values, is_unknown)) {
      return gradients;
    }
    if (values.size() != by.size()) {
      c.report.error(
          DiagKind::kMissingArgument, span_of(0),
          "`gradient` of `" + fn.name.text + "` returns " + plural(values.size(), "value") +
              "; one is needed for each parameter that is a tensor of floats: " + names());
      return gradients;
    }
    for (std::size_t i = 0; i < by.size(); ++i) {
      values[i] = as_before(c.units, by[i].value, std::move(values[i]), span_of(i));
      gradients[i] = fit(i, values[i]).value_or(ValueId{});
    }
    return gradients;
  }
};

// The parameters that gradients are of, as they are now; false after an error.
bool collect_parameters(Context& c, const ast::Fn& fn, Rule& rule, OwnGradient& own) {
  for (const ast::Parameter& parameter : fn.parameters) {
    const Binding* binding = c.names.scope->own(parameter.name.text);
    if (binding == nullptr || !is_differentiable(binding->value)) {
      continue;
    }
    Tensor tensor = *binding->value.get<Tensor>();
    const std::optional<ValueId> id = record(c.units, tensor, parameter.name.span);
    if (!id) {
      return false;
    }
    tensor.name = parameter.name.text;
    own.by.push_back(*id);
    rule.by.push_back({.value = make(std::move(tensor)), .span = parameter.name.span});
  }
  return true;
}

bool check_names(Reporter& report, const ast::Fn& fn, const Rule& rule,
                 std::span<const Value> results) {
  const std::vector<ast::Name>& names = rule.gradient.names;
  const auto count = std::ranges::count_if(results, is_differentiable);
  if (count == static_cast<std::ptrdiff_t>(names.size()) && !rule.by.empty()) {
    return true;
  }
  report.error(DiagKind::kBadArgument, names.front().span,
               rule.by.empty()
                   ? "`" + fn.name.text +
                         "` has no parameter that is a tensor of floats, which a "
                         "`gradient` could be of"
                   : "`gradient` names the gradients of " + std::to_string(names.size()) +
                         " results; `" + fn.name.text + "` returns " + std::to_string(count) +
                         " that are tensors of floats");
  return false;
}

}  // namespace

Value with_own_gradient(Context& c, const ast::Fn& fn, Value result) {
  const ast::Gradient& gradient = *c.control.gradient;
  if (is_unknown(result)) {
    return result;
  }
  Rule rule{.c = c,
            .fn = fn,
            .gradient = gradient,
            .scope = c.control.gradient_scope,
            .frame = c.units.frame,
            .precision = c.units.precision,
            .by = {}};
  OwnGradient own;
  if (!collect_parameters(c, fn, rule, own)) {
    return unknown();
  }
  Values values{result};
  if (const auto* several = result.get<Results>()) {
    values = *several->items;
  }
  if (!check_names(c.report, fn, rule, values)) {
    return unknown();
  }
  for (Value& value : values) {
    if (!is_differentiable(value)) {
      continue;
    }
    const Tensor tensor = *value.get<Tensor>();
    const std::optional<ValueId> id = record(c.units, tensor, fn.name.span);
    if (!id) {
      return unknown();
    }
    const ValueId fresh =
        c.units.recording().builder.emit(Algebra::kTranspose, {*id}, to_shape(tensor.type.shape));
    own.results.push_back(fresh);
    value = recorded(c.units, fresh);
    std::get_if<Tensor>(&value.node)->name = tensor.name;
  }
  own.rule = std::move(rule);
  c.units.recording().builder.add(std::move(own));
  return values.size() == 1 ? values.front()
                            : make(Results{std::make_shared<const Values>(std::move(values))});
}

}  // namespace mtf::host
