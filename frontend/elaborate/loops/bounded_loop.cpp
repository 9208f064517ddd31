// `for i in 0..n while c`: so many turns at most. In a function where c is a tensor all of them are
// recorded, and `where` keeps what was, once c has failed; so gradients flow, by what `where` took.

#include <map>

#include "frontend/elaborate/evaluate.h"
#include "frontend/elaborate/loops/loops.h"

namespace mtf::host {
namespace {

class BoundedTurn {
 public:
  BoundedTurn(Context& context, const ast::For& loop, ValueId alive)
      : c_(context), loop_(loop), alive_(alive) {}

  Flow run() {
    std::vector<std::pair<Handed, Value>> handed;
    for (Handed& one : handed_by(c_.names, loop_.body)) {
      Value before = frozen(one.binding->value);
      handed.emplace_back(std::move(one), std::move(before));
    }
    std::map<const VariableRecord*, ValueId> variables;
    for (const VariableUse& use : unit().variables()) {
      variables.emplace(use.variable.get(), use.versions.back());
    }
    const Flow flow = run_body();
    for (auto& [one, before] : handed) {
      one.binding->value = kept(one.name, before, one.binding->value);
    }
    keep_variables(variables);
    if (flow == Flow::kReturn && !is_unknown(c_.control.result)) {
      c_.report.error(DiagKind::kWrongType, loop_.condition->span,
                      "the body of this loop returns, and its condition is a tensor: nobody knows "
                      "when; set a `var`, and return it behind the loop");
    }
    return flow == Flow::kReturn ? Flow::kBreak : flow;
  }

 private:
  [[nodiscard]] Recording& unit() const { return c_.units.recording(); }

  Flow run_body() {
    const Restore alive(unit().alive, ValueId{alive_});
    return run_statements(c_, loop_.body.statements);
  }

  Value frozen(const Value& value) {
    return map_tensors(value, [&](Tensor& tensor) {
      if (const std::optional<ValueId> id = record(c_.units, tensor, loop_.variable.span)) {
        const std::string name = tensor.name;
        tensor = *recorded(c_.units, *id).get<Tensor>();
        tensor.name = name;
      }
    });
  }

  ValueId select(ValueId now, ValueId before) {
    unit().builder.at(loop_.condition->span, c_.units.frame);
    return unit().builder.emit(Primitive::kSelect, {alive_, now, before});
  }

  Value kept(const ast::Name& name, const Value& before, const Value& now) {
    if (is_unknown(before) || is_unknown(now) || is_same(before, now)) {
      return now;
    }
    const Binding* binding = c_.names.scope->find(name.text).binding;
    const Value was =
        as_tensors(c_, before, name.span, binding == nullptr ? SourceSpan() : binding->span);
    const std::optional<Value> is = after_trip(c_, name, was, now);
    return is ? chosen(was, *is, name) : unknown();
  }

  static bool is_same(const Value& before, const Value& now) {
    const auto* tensor = before.get<Tensor>();
    const auto* other = now.get<Tensor>();
    if (tensor != nullptr && other != nullptr) {
      return tensor->where == other->where && tensor->index == other->index &&
             tensor->unit == other->unit;
    }
    return tensor == nullptr && other == nullptr && !before.is<List>() && equal(before, now);
  }

  // Of two values of one form.
  Value chosen(const Value& before, const Value& now, const ast::Name& name) {
    if (const auto* list = before.get<List>()) {
      Values items;
      for (std::size_t i = 0; i < list->items->size(); ++i) {
        items.push_back(chosen((*list->items)[i], (*now.get<List>()->items)[i], name));
      }
      return make_list(std::move(items));
    }
    const auto* tensor = before.get<Tensor>();
    if (tensor == nullptr) {
      return now;
    }
    const ValueId id = select(ValueId{now.get<Tensor>()->index}, ValueId{tensor->index});
    unit().builder.program().at(id).name = name.text;
    Value value = recorded(c_.units, id);
    std::get_if<Tensor>(&value.node)->name = name.text;
    return value;
  }

  void keep_variables(const std::map<const VariableRecord*, ValueId>& before) {
    const std::vector<VariableUse> uses = unit().variables();
    for (const VariableUse& use : uses) {
      const auto known = before.find(use.variable.get());
      const ValueId was = known == before.end() ? use.versions.front() : known->second;
      if (use.versions.back() != was) {
        unit().assign(use.variable, select(use.versions.back(), was));
      }
    }
  }

  Context& c_;
  const ast::For& loop_;
  ValueId alive_;
};

}  // namespace

Flow run_bounded_turn(Context& c, const ast::For& loop, const Value& condition, ValueId& alive) {
  const Operand operand{.value = condition, .span = loop.condition->span};
  const std::optional<ValueId> holds = loop_condition(c, operand);
  if (!holds) {
    return Flow::kBreak;
  }
  Recording& unit = c.units.recording();
  unit.builder.at(operand.span, c.units.frame);
  const ValueId before = alive.valid() ? alive : unit.alive;
  alive = before.valid() ? unit.builder.emit(Primitive::kAnd, {before, *holds}) : *holds;
  return BoundedTurn(c, loop, alive).run();
}

}  // namespace mtf::host
