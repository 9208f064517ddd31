// What a function sees of the variables that it declares where `each` picks a position of a dim.

#include <array>

#include "frontend/elaborate/evaluate.h"
#include "frontend/elaborate/tensors/units.h"

namespace mtf::host {

Value picked_of(Units& units, const Operand& whole, const std::vector<Picked>& picked) {
  Value value = whole.value;
  for (const Picked& one : picked) {
    OpArgs args;
    args.set("over", std::vector{one.dim});
    const std::array<Operand, 2> parts{Operand{.value = std::move(value), .span = whole.span},
                                       Operand{.value = one.at, .span = whole.span}};
    value =
        apply_op(units, op_of(units.ops, Primitive::kGather), parts, std::move(args), whole.span);
  }
  return value;
}

namespace {

Value whole_of(const Tensor& variable) {
  Tensor whole = variable;
  whole.type = variable.variable->variable.type;
  whole.picks = nullptr;
  return make(std::move(whole));
}

// Where the variable has what is seen of it.
Operand picked_places(Context& c, const Picks& picks, SourceSpan span) {
  std::optional<Operand> all;
  for (const Picked& one : picks.picked) {
    OpArgs args;
    args.set("dim", std::vector{one.dim});
    const OpDef& range = op_of(c.units.ops, Primitive::kRange);
    const Operand places{.value = apply_op(c.units, range, {}, std::move(args), span),
                         .span = span};
    const std::array<Operand, 2> sides{places, Operand{.value = one.at, .span = span}};
    Operand here{.value = apply_operator(c.units, "==", sides, span), .span = span};
    if (all) {
      here.value = apply_operator(c.units, "and", std::array{*all, here}, span);
    }
    all = std::move(here);
  }
  return *std::move(all);
}

}  // namespace

Value picked_variable(Context& c, const Operand& variable) {
  const auto picks = std::make_shared<const Picks>(
      Picks{.picked = c.variables.picked, .precision = c.units.precision});
  const Value now = picked_of(c.units, variable, picks->picked);
  const auto* seen = now.get<Tensor>();
  if (seen == nullptr) {
    return unknown();
  }
  Tensor tensor = *variable.value.get<Tensor>();
  tensor.type = seen->type;
  tensor.picks = picks;
  return make(std::move(tensor));
}

std::optional<ValueId> read_picked(Units& units, const Tensor& variable, SourceSpan span) {
  const Restore precision(units.precision, variable.picks->precision);
  const Value now =
      picked_of(units, {.value = whole_of(variable), .span = span}, variable.picks->picked);
  const auto* seen = now.get<Tensor>();
  return seen == nullptr ? std::nullopt : std::optional(ValueId{seen->index});
}

Value with_picked(Context& c, const Tensor& variable, const Operand& now) {
  const std::array<Operand, 3> parts{picked_places(c, *variable.picks, now.span), now,
                                     Operand{.value = whole_of(variable), .span = now.span}};
  return apply_op(c.units, op_of(c.units.ops, Primitive::kSelect), parts, {}, now.span);
}

}  // namespace mtf::host
