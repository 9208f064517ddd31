// grad and minimize: gradients of what the unit under construction has computed.

#include <algorithm>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/statement.h"
#include "frontend/elaborate/tensors/gradients/independent.h"
#include "frontend/elaborate/tensors/gradients/whole_calls.h"
#include "frontend/elaborate/tensors/units.h"
#include "ir/loops/carried.h"

namespace mtf::host {
namespace {

// A tensor to differentiate by: the values it has had in this unit.
struct Target {
  Operand operand;
  std::vector<ValueId> versions;
};

std::optional<ValueId> loss_of(Units& units, const Operand& loss) {
  if (is_unknown(loss.value)) {
    return std::nullopt;
  }
  const auto* tensor = loss.value.get<Tensor>();
  if (tensor == nullptr) {
    units.report.error(
        DiagKind::kWrongType, loss.span,
        "the loss is a scalar tensor; this is " + kind_of(loss.value) +
            (loss.value.is<Function>() ? ", to be called, as in `grad(f(x), x)`" : ""));
    return std::nullopt;
  }
  if (tensor->type.shape.rank() > 0) {
    units.report.error(DiagKind::kNotDifferentiable, loss.span,
                       "the loss is " + mtf::to_string(tensor->type) +
                           "; a scalar is needed, as `mean(…)` or `sum(…)` gives");
    return std::nullopt;
  }
  if (!is_float(tensor->type.dtype)) {
    units.report.error(
        DiagKind::kNotDifferentiable, loss.span,
        "the loss is " + mtf::to_string(tensor->type) + "; only floats have gradients");
    return std::nullopt;
  }
  return record(units, *tensor, loss.span);
}

const VariableUse* use_of(Units& units, const std::shared_ptr<VariableRecord>& variable) {
  const std::vector<VariableUse>& uses = units.recording().variables();
  const auto found = std::ranges::find(uses, variable, &VariableUse::variable);
  return found == uses.end() ? nullptr : &*found;
}

// The gradient by the latest version of each target that the loss depends on; invalid if by none.
// No element at all: after an error.
std::vector<ValueId> gradients_by(Units& units, Limits& limits, ValueId loss,
                                  const std::vector<Target>& targets, SourceSpan span) {
  std::vector<ValueId> flat;
  for (const Target& target : targets) {
    flat.insert(flat.end(), target.versions.begin(), target.versions.end());
  }
  Builder& builder = units.recording().builder;
  constexpr std::size_t kValuesPerStatement = 16;  // it walks the whole program: as long as these
  if (!may_go_on(limits, units, span, builder.program().values.size() / kValuesPerStatement)) {
    return std::vector<ValueId>(targets.size());
  }
  builder.at(span, units.frame);
  if (const ValueId carried = carried_between(builder, loss, flat); carried.valid()) {
    const mtf::Value& value = builder.program().at(carried);
    const std::string name = value.name.empty() ? "a value" : "`" + value.name + "`";
    units.report.error(
        DiagKind::kNotDifferentiable, span,
        "the loss depends on " + name +
            ", which a loop hands from trip to trip, as often as its condition says; "
            "a gradient needs a bound, as `for i in 0..100 while …` is one, or "
            "`stop_gradient`",
        {{.span = value.span, .text = "handed on by this loop"}});
    return {};
  }
  const std::size_t failures = units.report.failures();
  const std::vector<ValueId> all = gradients_by_whole_calls(builder, loss, flat);
  units.take_diags();
  if (units.report.failures() > failures) {  // in what a function says of its own gradient
    return {};
  }
  std::vector<ValueId> result;
  std::size_t at = 0;
  for (const Target& target : targets) {
    ValueId latest;
    for (std::size_t i = 0; i < target.versions.size(); ++i, ++at) {
      latest = all[at].valid() ? all[at] : latest;
    }
    const auto* tensor = target.operand.value.get<Tensor>();
    if (latest.valid() && tensor->where == Where::kVariable) {
      builder.program().at(latest).variable = tensor->variable->variable.path;
    }
    result.push_back(latest);
  }
  return result;
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

// ---- minimize --------------------------------------------------------------------------------

// An option that the rule has no place for, as the param and its gradient take the first two.
bool has_place_for_options(Context& c, const Function& rule, std::span<const Formal> formals,
                           const ast::Minimize& minimize) {
  const std::size_t room = formals.size() - 2;
  std::size_t given = 0;
  for (const ast::Argument& option : minimize.options) {
    given += option.name ? 0 : 1;
    if (given > room || room == 0) {
      c.report.error(DiagKind::kUnknownArgument, option.span,
                     "one option too many for `" + rule.fn->name.text +
                         "`: `minimize` passes the param as `" + formals[0].name +
                         "` and its gradient as `" + formals[1].name + "`" +
                         (room == 0 ? ", and it takes nothing else" : ""),
                     {{.span = rule.fn->name.span, .text = "declared here"}});
      return false;
    }
  }
  return true;
}

// Arguments of the rule but for the param and its gradient, the same for all.
std::optional<Arguments> rule_options(Context& c, const Function& rule,
                                      const ast::Minimize& minimize) {
  std::vector<Formal> formals = formals_of(*rule.fn);
  const std::string& name = rule.fn->name.text;
  if (formals.size() < 2) {
    c.report.error(DiagKind::kWrongType, minimize.rule.span,
                   "`" + name + "` takes " + (formals.empty() ? "no" : "one") +
                       " argument; `minimize` passes two, the param and its gradient");
    return std::nullopt;
  }
  if (!has_place_for_options(c, rule, formals, minimize)) {
    return std::nullopt;
  }
  formals.erase(formals.begin(), formals.begin() + 2);
  const std::optional<Bound> bound =
      bind_arguments(c.report, c.names, name, formals, minimize.options);
  if (!bound || !has_required(c.report, name, formals, *bound, minimize.rule.span)) {
    return std::nullopt;
  }
  Arguments arguments(2);
  for (std::size_t i = 0; i < formals.size(); ++i) {
    arguments.emplace_back();
    if ((*bound)[i].empty()) {
      continue;
    }
    const ast::Expr& expr = *(*bound)[i].front();
    arguments.back() = Operand{.value = evaluate(c, expr), .span = expr.span};
    if (is_unknown(arguments.back()->value)) {
      return std::nullopt;
    }
  }
  return arguments;
}

// The trained variables that the unit reads, in the order in which they were declared.
std::vector<Target> trained_variables(Units& units, SourceSpan span) {
  std::vector<VariableUse> uses = units.recording().variables();
  std::ranges::sort(uses, {}, [](const VariableUse& use) { return use.variable->ordinal; });
  std::vector<Target> targets;
  for (const VariableUse& use : uses) {
    if (use.variable->variable.trained) {
      const Tensor tensor{.where = Where::kVariable,
                          .type = use.variable->variable.type,
                          .handle = nullptr,
                          .variable = use.variable,
                          .index = -1,
                          .unit = 0,
                          .name = use.variable->variable.path};
      targets.push_back(
          {.operand = {.value = make(tensor), .span = span}, .versions = use.versions});
    }
  }
  return targets;
}

// Those of `params = …`, which is what `params()` takes. Nullopt after an error.
std::optional<Values> chosen_params(Context& c, const ast::Expr& expr) {
  const Operand of{.value = evaluate(c, expr), .span = expr.span};
  const Value found = is_unknown(of.value) ? unknown() : params_of(c, of);
  return is_unknown(found) ? std::nullopt : std::optional(*found.get<List>()->items);
}

// Whether all of them are states, which has been said.
bool are_states(Context& c, const Values& chosen, SourceSpan span) {
  const auto is_trained = [](const Value& value) {
    return value.get<Tensor>()->variable->variable.trained;
  };
  if (chosen.empty() || std::ranges::any_of(chosen, is_trained)) {
    return false;
  }
  const std::string& path = chosen.front().get<Tensor>()->variable->variable.path;
  c.report.error(
      DiagKind::kNoGradient, span,
      "`" + path + "` is `state`, which is not trained; `param` declares what is learned");
  return true;
}

// What the statement trains, as far as the loss depends on it.
std::optional<std::vector<Target>> targets_of(Context& c, const ast::Minimize& minimize,
                                              SourceSpan span) {
  std::vector<Target> targets = trained_variables(c.units, span);
  if (!minimize.params) {
    return targets;
  }
  const std::optional<Values> chosen = chosen_params(c, *minimize.params);
  if (!chosen || are_states(c, *chosen, minimize.params->span)) {
    return std::nullopt;
  }
  std::erase_if(targets, [&](const Target& target) {
    const auto& variable = target.operand.value.get<Tensor>()->variable;
    return std::ranges::none_of(*chosen, [&variable](const Value& value) {
      return value.get<Tensor>()->variable == variable;
    });
  });
  return targets;
}

void no_param_is_trained(Context& c, const ast::Minimize& minimize, ValueId loss,
                         const std::vector<Target>& targets) {
  const SourceSpan span = minimize.params ? minimize.params->span : minimize.loss.span;
  std::vector<ValueId> all;
  for (const Target& target : targets) {
    all.insert(all.end(), target.versions.begin(), target.versions.end());
  }
  if (const std::optional<FlowEnd> end =
          end_of_flow(c.units.recording().builder, loss, all, "a param")) {
    c.report.error(DiagKind::kNoGradient, span, end->text, end->notes);
    return;
  }
  if (minimize.params) {
    c.report.error(DiagKind::kNoGradient, span, "the loss depends on none of these params");
    return;
  }
  c.report.error(
      DiagKind::kNoGradient, span,
      std::string("the loss depends on no param; `param w = …` declares what is learned") +
          (c.units.in_function() ? "" : "; a function has to compute it and `minimize` it"));
}

void watch_for_nan(Units& units, const Operand& loss) {
  const OpDef& op = op_of(units.ops, Primitive::kCheckFinite);
  static_cast<void>(apply_op(units, op, {&loss, 1}, {}, loss.span));
}

void minimize_here(Context& c, const ast::Minimize& minimize, SourceSpan span) {
  const Restore inline_calls(c.units.recording().inline_calls, true);
  const Operand loss{.value = evaluate(c, minimize.loss), .span = minimize.loss.span};
  const Value rule = evaluate(c, minimize.rule);
  const auto* function = rule.get<Function>();
  if (function == nullptr) {
    if (!is_unknown(rule)) {
      c.report.error(DiagKind::kWrongType, minimize.rule.span,
                     "`minimize … with` needs a function of a param and its gradient; this is " +
                         kind_of(rule));
    }
    return;
  }
  std::optional<Arguments> arguments = rule_options(c, *function, minimize);
  const std::optional<ValueId> of = loss_of(c.units, loss);
  if (!of || !arguments) {
    return;
  }
  const std::optional<std::vector<Target>> found = targets_of(c, minimize, span);
  if (!found) {
    return;
  }
  const std::vector<Target>& targets = *found;
  const std::vector<ValueId> ids = gradients_by(c.units, c.limits, *of, targets, span);
  if (ids.empty() && !targets.empty()) {
    return;
  }
  bool any = false;
  const Restore full(c.units.precision, std::optional<Precision>());  // what updates variables
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!ids[i].valid()) {
      continue;
    }
    any = true;
    (*arguments)[0] = targets[i].operand;
    (*arguments)[1] = Operand{.value = recorded(c.units, ids[i]), .span = span};
    const CallSite site{
        .span = minimize.rule.span,
        .name = {},
        .owned_path = targets[i].operand.value.get<Tensor>()->variable->variable.path};
    static_cast<void>(call_inline(c, *function, *arguments, site));
  }
  if (!any) {
    no_param_is_trained(c, minimize, *of, targets);
    return;
  }
  watch_for_nan(c.units, loss);
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

void run_minimize(Context& c, const ast::Minimize& minimize, SourceSpan span) {
  if (!c.units.at_top_level()) {
    minimize_here(c, minimize, span);
    return;
  }
  static_cast<void>(compute(c, [&] {
    minimize_here(c, minimize, span);
    return Values();
  }));
}

}  // namespace mtf::host
