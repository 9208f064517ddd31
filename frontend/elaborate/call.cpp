// Calls by what is called.

#include "frontend/elaborate/call.h"

#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/host/results.h"
#include "frontend/elaborate/tensors/entries.h"
#include "frontend/elaborate/tensors/units.h"

namespace mtf::host {
namespace {

// Looks for errors in the arguments of a call that cannot be made.
void evaluate_all(Context& c, const ast::Call& call) {
  for (const ast::Argument& argument : call.arguments) {
    static_cast<void>(evaluate(c, argument.value));
  }
}

// Names of dims behind all else, since a tensor of the call may have them: one that is unknown may
// be that tensor.
Values evaluate_bound_arguments(Context& c, const Bound& bound, const std::string& callee) {
  const std::string use = "that could be passed to `" + callee + "`";
  Values values;
  std::vector<const ast::Expr*> free_dims;  // null: the value is there
  bool are_known = true;
  for (const auto& exprs : bound) {
    for (const ast::Expr* expr : exprs) {
      const bool is_free = names_free_dim(c, *expr);
      free_dims.push_back(is_free ? expr : nullptr);
      values.push_back(is_free ? unknown() : some_value(c, *expr, evaluate(c, *expr), use));
      are_known = are_known && (is_free || !is_unknown(values.back()));
    }
  }
  if (!are_known) {
    return values;
  }
  const std::vector<Shape> shapes = shapes_in(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (free_dims[i] != nullptr) {
      values[i] = evaluate_free_dims(c, *free_dims[i], shapes);
    }
  }
  return values;
}

// Nullopt: one is unknown, and so is what the call gives.
std::optional<Arguments> known_arguments(Context& c, const Function& function, const Bound& bound,
                                         const Values& values, bool is_unit) {
  Arguments arguments(bound.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < bound.size(); ++i) {
    if (bound[i].empty()) {
      continue;
    }
    const SourceSpan span = bound[i].front()->span;
    arguments[i] = Operand{.value = values[next++], .span = span};
    if (!is_unknown(arguments[i]->value)) {
      continue;
    }
    // What a check cannot know has the type that the function says.
    if (is_unit && c.execution.checks_only()) {
      arguments[i] = tensor_of_type(c, function, function.fn->parameters[i]);
    } else {
      arguments[i].reset();
    }
    if (!arguments[i]) {
      return std::nullopt;
    }
    arguments[i]->span = span;
  }
  return arguments;
}

// "/net/w": under that path, wherever the call stands. A model has its variables under its own.
void place_from_root(const Function& function, CallSite& site) {
  if (site.name.starts_with('/') && !owns_variables(*function.fn)) {
    site.name.erase(0, 1);
    site.owned_path = site.name;
  }
}

Value call_function(Context& c, const Function& function, const ast::Call& call, SourceSpan span) {
  c.variables.called.insert(function.fn);
  CallSite site = bound_site(c, span);
  const Restore name(c.variables.call_name, std::string());
  const std::vector<Formal> formals = formals_of(*function.fn);
  const std::string& callee = function.fn->name.text;
  const std::optional<Bound> bound = bind_required(c.report, c.names, callee, formals, call, span);
  if (!bound) {
    return unknown();
  }
  const bool is_unit = c.units.calls_are_units();
  const Values values =
      is_unit ? compute(
                    c, [&] { return evaluate_bound_arguments(c, *bound, callee); }, false)
              : evaluate_bound_arguments(c, *bound, callee);
  if (!name_site(c, call, site)) {
    return unknown();
  }
  place_from_root(function, site);
  const std::optional<Arguments> arguments = known_arguments(c, function, *bound, values, is_unit);
  if (!arguments) {
    return unknown();
  }
  return is_unit ? call_unit(c, function, *arguments, site)
                 : call_inline(c, function, *arguments, site);
}

}  // namespace

std::optional<std::string> name_part(Context& c, const ast::Expr& name) {
  const Value value = evaluate(c, name);
  const auto* text = value.get<std::string>();
  const bool is_empty = text != nullptr && (text->empty() || *text == "/");
  if (is_empty) {
    c.report.error(DiagKind::kBadArgument, name.span, "the name of a call is empty");
  }
  return text == nullptr || is_empty ? std::nullopt : std::optional(*text);
}

CallSite bound_site(const Context& c, SourceSpan span) {
  return {.span = span,
          .name = c.variables.root == nullptr ? "" : c.variables.call_name,
          .named = {},
          .owned_path = {}};
}

bool name_site(Context& c, const ast::Call& call, CallSite& site) {
  if (!call.name) {
    return true;
  }
  std::optional<std::string> part = name_part(c, *call.name);
  if (!part) {
    return false;
  }
  site.name = *std::move(part);
  site.named = call.name->span;
  return true;
}

Value evaluate_call(Context& c, const Operand& callee, const ast::Call& call, SourceSpan span) {
  if (const auto* function = callee.value.get<Function>()) {
    return call_function(c, *function, call, span);
  }
  if (const auto* op = callee.value.get<const OpDef*>()) {
    return call_op(c, **op, call, span);
  }
  if (const auto* fn = callee.value.get<const HostFn*>()) {
    return (*fn)->call(c, **fn, call, span);
  }
  if (!is_unknown(callee.value)) {
    const auto* dtype = callee.value.get<DType>();
    c.report.error(DiagKind::kWrongType, callee.span,
                   "this is " + kind_of(callee.value) + ", which cannot be called" +
                       (dtype == nullptr ? ""
                                         : "; `cast(x, " + std::string(to_string(*dtype)) +
                                               ")` gives a tensor this dtype"));
  }
  evaluate_all(c, call);
  return unknown();
}

}  // namespace mtf::host
