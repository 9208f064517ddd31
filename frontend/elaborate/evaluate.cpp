// Names, literals and operators.

#include "frontend/elaborate/evaluate.h"

#include <algorithm>
#include <array>

#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/host/results.h"
#include "frontend/elaborate/names/elsewhere.h"
#include "frontend/elaborate/names/modules.h"
#include "frontend/elaborate/tensors/units.h"
#include "ir/support/match.h"

namespace mtf::host {
namespace {

Value evaluate_range(Context& c, const ast::Range& range) {
  std::array<std::int64_t, 2> ends{};
  const std::array<const ast::Expr*, 2> parts{range.begin.get(), range.end.get()};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Value value = evaluate(c, *parts[i]);
    if (value.is<Unknown>()) {
      return unknown();
    }
    const std::optional<std::int64_t> end = as_int(value);
    if (!end) {
      c.report.error(DiagKind::kWrongType, parts[i]->span,
                     "a range goes from int to int; this is " + kind_of(value));
      return unknown();
    }
    ends[i] = *end;
  }
  return make(Range{.begin = ends[0], .end = ends[1]});
}

Value evaluate_unary(Context& c, const ast::Unary& unary, SourceSpan span) {
  const Operand operand{.value = evaluate(c, *unary.operand), .span = unary.operand->span};
  if (!operand.value.is<Tensor>()) {
    return host_unary(c.report, unary.op, operand, span);
  }
  const std::string_view symbol = unary.op == ast::UnaryOp::kNot ? "not" : "unary -";
  return apply_operator(c.units, symbol, {&operand, 1}, span);
}

// `and`, `or`: the right side is only looked at if the left one does not decide.
Value evaluate_logical(Context& c, const Operand& left, const ast::Link& link, SourceSpan span) {
  const bool* flag = left.value.get<bool>();
  if (flag != nullptr && *flag == (link.op == ast::BinaryOp::kOr)) {
    return left.value;
  }
  const Operand right{.value = evaluate(c, link.operand), .span = link.operand.span};
  if (left.value.is<Unknown>() || right.value.is<Unknown>()) {
    return unknown();
  }
  if (left.value.is<Tensor>() || right.value.is<Tensor>()) {
    return apply_operator(c.units, to_string(link.op), std::array{left, right}, span);
  }
  for (const Operand* side : {&left, &right}) {
    if (!side->value.is<bool>()) {
      c.report.error(DiagKind::kWrongType, side->span,
                     "`" + std::string(to_string(link.op)) + "` joins bools; this is " +
                         kind_of(side->value) + bool_of_it(side->value));
      return unknown();
    }
  }
  return right.value;
}

Value operand_of(Context& c, const ast::Expr& expr, ast::BinaryOp op) {
  return some_value(c, expr, evaluate(c, expr),
                    "that `" + std::string(to_string(op)) + "` could take");
}

Value evaluate_binary(Context& c, const Operand& left, const ast::Link& link, SourceSpan span) {
  if (link.op == ast::BinaryOp::kAnd || link.op == ast::BinaryOp::kOr) {
    return evaluate_logical(c, left, link, span);
  }
  const Operand right{.value = operand_of(c, link.operand, link.op), .span = link.operand.span};
  if (!left.value.is<Tensor>() && !right.value.is<Tensor>()) {
    return host_binary(c.report, c.units.ops, link.op, left, right, span);
  }
  return apply_operator(c.units, to_string(link.op), std::array{left, right}, span);
}

Value evaluate_chain(Context& c, const ast::Chain& chain) {
  Operand left{.value = operand_of(c, *chain.first, chain.links.front().op),
               .span = chain.first->span};
  for (const ast::Link& link : chain.links) {
    const SourceSpan span = join(left.span, link.operand.span);
    left = {.value = evaluate_binary(c, left, link, span), .span = span};
  }
  return left.value;
}

// What works on a value is a call in which it stands first; some of them have other names here.
std::string call_for(const Units& units, const std::string& member) {
  static constexpr std::array<std::array<std::string_view, 2>, 2> kElsewhere{
      {{"T", "transpose(x -> [a, b])"}, {"numpy", "list(…)"}}};
  if (find_op(units.ops, member) != nullptr || find_host_fn(member) != nullptr) {
    return member + "(…)";
  }
  const auto* found = std::ranges::find(kElsewhere, member, [](const auto& row) { return row[0]; });
  const std::string_view here =
      found == kElsewhere.end() ? name_here(member) : std::string_view((*found)[1]);
  return found == kElsewhere.end() && !here.empty() ? std::string(here) + "(…)" : std::string(here);
}

std::string instead_of_member(const Units& units, const Value& base, const ast::Member& member) {
  if (base.is<List>() && (member.name.text == "append" || member.name.text == "extend")) {
    return "; `xs + [x]` is a longer list";
  }
  if (base.is<Tensor>() && member.path == nullptr) {
    if (const std::string call = call_for(units, member.name.text); !call.empty()) {
      return "; it is a call here, `" + call + "`";
    }
    if (std::string habit = habit_text(member.name.text); !habit.empty()) {
      return habit;
    }
  }
  return "; only modules have members, and models variables";
}

Value evaluate_member(Context& c, const Operand& base, const ast::Member& member) {
  if (is_unknown(base.value)) {
    return unknown();
  }
  if (const auto* function = base.value.get<Function>()) {
    return variable_of(c, {.value = base.value, .span = base.span}, *function, member);
  }
  Units& units = c.units;
  const auto* module = base.value.get<std::shared_ptr<Module>>();
  if (module == nullptr || member.path != nullptr) {
    units.report.error(DiagKind::kWrongType, base.span,
                       (member.path == nullptr ? "`." + member.name.text + "`" : "a path") +
                           " of " + kind_of(base.value) +
                           instead_of_member(units, base.value, member));
    return unknown();
  }
  Binding* binding = (*module)->scope->own(member.name.text);
  if (binding == nullptr || binding->kind == NameKind::kModule) {
    if ((*module)->ran) {  // otherwise its own error has been reported
      no_member(units.report, units.ops, **module, (*module)->name, member.name);
    }
    return unknown();
  }
  units.note_read({.binding = binding, .scope = (*module)->scope.get()});
  return binding->value;
}

Value evaluate_postfix(Context& c, const ast::Postfix& postfix) {
  Operand base{.value = evaluate(c, *postfix.base), .span = postfix.base->span};
  for (const ast::Suffix& suffix : postfix.suffixes) {
    const SourceSpan span = join(base.span, suffix.span);
    Value value = match(
        suffix.node,  //
        [&](const ast::Call& call) { return evaluate_call(c, base, call, span); },
        [&](const ast::Index& index) { return evaluate_index(c, base, index, span); },
        [&](const ast::Member& member) { return evaluate_member(c, base, member); },
        [&](const ast::Pin& pin) { return pin_tensor(c, base, pin, span); });
    base = {.value = std::move(value), .span = span};
  }
  return base.value;
}

}  // namespace

Value lookup(const Names& names, Units& units, std::string_view name, SourceSpan span) {
  const Scope::Found found = names.scope->find(name);
  if (found.binding != nullptr) {
    units.note_read(found);
    return found.binding->value;
  }
  if (const OpDef* op = find_op(units.ops, name)) {
    return make(op);
  }
  if (const HostFn* fn = find_host_fn(name)) {
    return make(fn);
  }
  if (const std::optional<DType> dtype = find_dtype(name)) {
    return make(*dtype);
  }
  if (!names.are_cut_short) {
    units.report.error(DiagKind::kUnknownName, span,
                       "`" + std::string(name) + "` has no value yet");
  }
  return unknown();
}

std::optional<Dim> find_dim(const Names& names, Units& units, std::string_view name) {
  const Scope::Found found = names.scope->find(name);
  if (found.binding == nullptr || !found.binding->value.is<Dim>()) {
    return std::nullopt;
  }
  units.note_read(found);
  return *found.binding->value.get<Dim>();
}

bool is_dim_name(const Names& names, const ast::Expr& expr) {
  const ast::NameRef* name = ast::as_name(expr);
  if (name == nullptr) {
    return false;
  }
  const Scope::Found found = names.scope->find(name->text);
  return found.binding == nullptr || found.binding->value.is<Dim>() ||
         found.binding->value.is<Shape>();
}

Value evaluate(Context& c, const ast::Expr& expr) {
  if (c.units.at_top_level()) {
    return compute(c, expr);  // whatever is evaluated belongs to a unit
  }
  if (!stack_left(c.limits, c.report, expr.span)) {
    return unknown();
  }
  return match(
      expr.node,  //
      [](const ast::Int& number) { return make(number.value); },
      [](const ast::Float& number) { return make(number.value); },
      [](const ast::Bool& flag) { return make(flag.value); },
      [&](const ast::String&) { return evaluate_string(c, expr); },
      [&](const ast::NameRef& name) {
        return c.report.is_declared_twice(name.text)
                   ? unknown()
                   : lookup(c.names, c.units, name.text, expr.span);
      },
      [&](const ast::Bracket& bracket) { return evaluate_bracket(c, bracket, expr.span); },
      [&](const ast::Range& range) { return evaluate_range(c, range); },
      [&](const ast::Unary& unary) { return evaluate_unary(c, unary, expr.span); },
      [&](const ast::Chain& chain) { return evaluate_chain(c, chain); },
      [&](const ast::Postfix& postfix) { return evaluate_postfix(c, postfix); });
}

}  // namespace mtf::host
