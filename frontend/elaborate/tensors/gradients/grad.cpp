// grad(loss, by).

#include <algorithm>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/tensors/gradients/differentiate.h"
#include "frontend/elaborate/tensors/gradients/independent.h"

namespace mtf::host {
namespace {

const VariableUse* use_of(Units& units, const std::shared_ptr<VariableRecord>& variable) {
  const std::vector<VariableUse>& uses = units.recording().variables();
  const auto found = std::ranges::find(uses, variable, &VariableUse::variable);
  return found == uses.end() ? nullptr : &*found;
}

std::string name_of(const Tensor& tensor) {
  return tensor.name.empty() ? "this tensor" : "`" + tensor.name + "`";
}

std::optional<Target> target_of(Units& units, const Value& value, SourceSpan span) {
  const auto* tensor = value.get<Tensor>();
  if (tensor == nullptr) {
    if (!is_unknown(value)) {
      units.report.error(DiagKind::kWrongType, span,
                         "gradients are taken by tensors; this is " + kind_of(value));
    }
    return std::nullopt;
  }
  if (!is_float(tensor->type.dtype)) {
    units.report.error(
        DiagKind::kNotDifferentiable, span,
        name_of(*tensor) + " is " + mtf::to_string(tensor->type) + "; only floats have gradients");
    return std::nullopt;
  }
  Target target{.operand = {.value = value, .span = span}, .versions = {}};
  const std::optional<ValueId> id = record(units, *tensor, span);
  if (!id) {
    return std::nullopt;
  }
  target.versions = {*id};
  if (tensor->where == Where::kVariable) {
    if (const VariableUse* use = use_of(units, tensor->variable)) {
      target.versions = use->versions;
    }
  }
  return target;
}

void independent(Units& units, ValueId loss, const Target& target) {
  const std::string name = name_of(*target.operand.value.get<Tensor>());
  if (const std::optional<FlowEnd> end =
          end_of_flow(units.recording().builder, loss, target.versions, name)) {
    units.report.error(DiagKind::kNoGradient, target.operand.span, end->text, end->notes);
    return;
  }
  units.report.error(
      DiagKind::kNoGradient, target.operand.span,
      "the loss does not depend on " + name +
          (units.in_function()
               ? ""
               : "; at top level, `grad` has to hold the whole computation of the loss"));
}

Value grad_values(Context& c, const ast::Expr& loss_expr, const ast::Expr& by_expr,
                  SourceSpan span) {
  const Restore inline_calls(c.units.recording().inline_calls, true);
  const Operand loss{.value = evaluate(c, loss_expr), .span = loss_expr.span};
  Value by = evaluate(c, by_expr);
  if (by.is<Function>()) {
    by = params_of(c, {.value = by, .span = by_expr.span});
  }
  const std::optional<ValueId> of = loss_of(c.units, loss);
  const auto* list = by.get<List>();
  const Values values = list != nullptr ? *list->items : Values{by};
  std::vector<Target> targets;
  for (const Value& value : values) {
    if (std::optional<Target> target = target_of(c.units, value, by_expr.span)) {
      targets.push_back(*std::move(target));
    }
  }
  if (!of || targets.size() != values.size()) {
    return unknown();
  }
  const std::vector<ValueId> ids = gradients_by(c.units, c.limits, *of, targets, span);
  if (ids.empty() && !targets.empty()) {
    return unknown();
  }
  Values results;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!ids[i].valid()) {
      independent(c.units, *of, targets[i]);
      return unknown();
    }
    const auto& tensor = *targets[i].operand.value.get<Tensor>();
    Value gradient = recorded(c.units, ids[i]);
    results.push_back(tensor.picks == nullptr
                          ? std::move(gradient)
                          : picked_of(c.units, {.value = std::move(gradient), .span = span},
                                      tensor.picks->picked));
  }
  return list != nullptr ? make_list(std::move(results)) : results.front();
}

}  // namespace

Value grad_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const std::vector<Formal> formals{{.name = "loss"}, {.name = "by"}};
  const std::optional<Bound> bound =
      bind_required(c.report, c.names, self.name, formals, call, span);
  if (!bound) {
    return unknown();
  }
  return grad_values(c, *(*bound)[0].front(), *(*bound)[1].front(), span);
}

}  // namespace mtf::host
