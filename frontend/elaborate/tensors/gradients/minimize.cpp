// `minimize loss with rule`: each param that the loss depends on is handed to the rule with its
// gradient.

#include <algorithm>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/statement.h"
#include "frontend/elaborate/tensors/gradients/differentiate.h"
#include "frontend/elaborate/tensors/gradients/independent.h"

namespace mtf::host {
namespace {

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
