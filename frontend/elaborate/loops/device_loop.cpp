// A `while` in a function whose condition is a tensor. Its body is recorded once, between the marks
// of ir/loops/loop.h, and once more where it assigns to variables: only then is it known which they
// are, and what is carried stands before it. The condition is recorded twice: before the first
// trip, and at the end of each.

#include <iterator>
#include <map>
#include <set>

#include "frontend/elaborate/evaluate.h"
#include "frontend/elaborate/loops/loops.h"

namespace mtf::host {
namespace {

class DeviceLoop {
 public:
  DeviceLoop(Context& context, const ast::While& loop) : c_(context), loop_(loop) {}

  Flow run(const Value& first, const Declared& declared) {
    const std::optional<ValueId> condition = condition_of(first);
    if (!condition || !may_be_here()) {
      return Flow::kNext;
    }
    const std::size_t failures = c_.report.failures();
    const RecordingMark start = unit().mark();
    Flow flow = trip(*condition, declared);
    while (carries_more() && c_.report.failures() == failures) {
      for (const Carried& one : carried_) {
        one.handed.binding->value = one.outside;
      }
      unit().forget_since(start);
      flow = trip(*condition, declared);
    }
    if (c_.report.failures() == failures && again_.valid() && !may_change(again_)) {
      tell_endless();
    }
    return flow;
  }

 private:
  struct Carried {
    Handed handed;
    Value outside;
    Value before;  // its tensors are those that are carried
  };
  using Assigned = std::shared_ptr<VariableRecord>;

  Flow trip(ValueId condition, const Declared& declared) {
    begin(condition);
    ++unit().trips;
    const Flow flow = run_block(c_, loop_.body);
    const bool has_failed = flow == Flow::kReturn && is_unknown(c_.control.result);
    if (flow == Flow::kReturn && !has_failed) {
      c_.report.error(DiagKind::kWrongType, loop_.condition.span,
                      "the body of this loop returns, and its condition is a tensor: nobody knows "
                      "when; set a `var`, and return it behind the loop");
      c_.control.result = nothing();
    }
    declare_again(c_, declared);
    end(flow == Flow::kBreak ? make(false) : evaluate(c_, loop_.condition));
    --unit().trips;
    return flow == Flow::kEnd || has_failed ? flow : Flow::kNext;
  }

  // Whether a value of the trip may be another one in the next: it is made of what is carried, or
  // drawn anew.
  [[nodiscard]] bool may_change(ValueId id) const {
    const Program& program = builder().program();
    std::set<ValueId> made_of{id};
    while (!made_of.empty() && made_of.rbegin()->index >= first_) {
      const mtf::Value& value = program.at(*made_of.rbegin());
      const bool is_drawn =
          value.op != nullptr && value.op->random && value.args.find("seed") == nullptr;
      if (is_drawn || (value.op != nullptr && value.op->primitive == Primitive::kCarry)) {
        return true;
      }
      made_of.erase(std::prev(made_of.end()));
      made_of.insert(value.operands.begin(), value.operands.end());
    }
    return false;
  }

  void tell_endless() const {
    std::vector<Note> notes;
    for (const ast::Stmt& stmt : loop_.body.statements) {
      const auto* binding = std::get_if<ast::Binding>(&stmt.node);
      for (const ast::Name& name : binding == nullptr ? std::vector<ast::Name>() : binding->names) {
        const Binding* outside = c_.names.scope->find(name.text).binding;
        if (outside != nullptr && outside->kind == NameKind::kVar) {
          notes.push_back({.span = name.span,
                           .text = "this is another `" + name.text + "`, of the block alone; `" +
                                   name.text + " = …` sets the `var` of outside"});
        }
      }
    }
    c_.report.error(DiagKind::kWrongType, loop_.condition.span,
                    "no trip of this loop changes what its condition reads, so that it would not "
                    "end; set a `var` of outside in it, which the condition reads",
                    std::move(notes));
  }

  // Whether the trip assigned to variables that it does not hand on yet.
  bool carries_more() {
    const std::size_t known = assigned_.size();
    for (const VariableUse& use : unit().variables()) {
      const auto before = entered_.find(use.variable.get());
      const ValueId was = before == entered_.end() ? use.versions.front() : before->second;
      if (use.versions.back() != was) {
        assigned_.push_back(use.variable);
      }
    }
    return assigned_.size() > known;
  }

  [[nodiscard]] Recording& unit() const { return c_.units.recording(); }
  [[nodiscard]] Builder& builder() const { return unit().builder; }
  void here(SourceSpan span) const { builder().at(span, c_.units.frame); }

  // In a turn of a bounded loop that is to change nothing, there is no trip either.
  std::optional<ValueId> condition_of(const Value& value) {
    const Operand operand{.value = value, .span = loop_.condition.span};
    const std::optional<ValueId> id = loop_condition(c_, operand);
    const ValueId alive = unit().alive;
    here(loop_.condition.span);
    return id && alive.valid() ? builder().emit(Primitive::kAnd, {alive, *id}) : id;
  }

  bool may_be_here() {
    if (builder().recompute().block < 0) {
      return true;
    }
    c_.report.error(DiagKind::kWrongType, loop_.condition.span,
                    "the condition is a tensor, and the trips of such a loop are not computed "
                    "again: `recompute` cannot hold it");
    return false;
  }

  // What is carried stands together, right before the first trip.
  void begin(ValueId condition) {
    carried_.clear();
    for (Handed& handed : handed_by(c_.names, loop_.body)) {
      Value before = as_tensors(c_, handed.binding->value, handed.name.span, handed.binding->span);
      Value outside = handed.binding->value;
      carried_.push_back({.handed = std::move(handed),
                          .outside = std::move(outside),
                          .before = std::move(before)});
    }
    for (const Assigned& variable : assigned_) {  // an input, where nothing has read it yet
      static_cast<void>(unit().read(variable));
    }
    first_ = builder().program().last().index + 1;
    for (Carried& one : carried_) {
      one.before = map_tensors(std::move(one.before),
                               [&](Tensor& tensor) { carry(tensor, one.handed.name); });
      one.handed.binding->value = one.before;
    }
    here(loop_.condition.span);
    for (const Assigned& variable : assigned_) {
      const ValueId id = builder().emit(Primitive::kCarry, {unit().read(variable)});
      builder().program().at(id).name = variable->variable.path;
      unit().assign(variable, id);
    }
    condition_ = builder().emit(Primitive::kCarry, {condition});
    builder().emit(Primitive::kWhile, {condition_});
    entered_.clear();
    for (const VariableUse& use : unit().variables()) {
      entered_.emplace(use.variable.get(), use.versions.back());
    }
  }

  void carry(Tensor& tensor, const ast::Name& name) {
    here(name.span);
    const ValueId id = builder().emit(Primitive::kCarry, {ValueId{tensor.index}});
    builder().program().at(id).name = name.text;
    tensor.index = id.index;
    tensor.name = name.text;
  }

  void end(const Value& again) {
    std::vector<std::pair<ValueId, ValueId>> next;
    again_ = {};
    if (const std::optional<ValueId> id = condition_of(again)) {
      next.emplace_back(condition_, *id);
      again_ = again.is<Tensor>() ? *id : ValueId();
    }
    for (const Carried& one : carried_) {
      Value& value = one.handed.binding->value;
      const std::optional<Value> after = is_unknown(one.before) || is_unknown(value)
                                             ? std::nullopt
                                             : after_trip(c_, one.handed.name, one.before, value);
      if (after) {
        pair_up(one.before, *after, next);
      }
      value = one.before;
    }
    for (const Assigned& variable : assigned_) {
      const ValueId carried = entered_.at(variable.get());
      next.emplace_back(carried, unit().read(variable));
      unit().assign(variable, carried);
    }
    here(loop_.condition.span);
    for (const auto& [carried, value] : next) {
      builder().emit(Primitive::kNext, {carried, value});
    }
    builder().emit(Primitive::kAgain, {});
  }

  // The tensors of both, which are of one form.
  static void pair_up(const Value& before, const Value& after,
                      std::vector<std::pair<ValueId, ValueId>>& next) {
    if (const auto* tensor = before.get<Tensor>()) {
      next.emplace_back(ValueId{tensor->index}, ValueId{after.get<Tensor>()->index});
    } else if (const auto* list = before.get<List>()) {
      for (std::size_t i = 0; i < list->items->size(); ++i) {
        pair_up((*list->items)[i], (*after.get<List>()->items)[i], next);
      }
    }
  }

  Context& c_;
  const ast::While& loop_;
  std::vector<Carried> carried_;
  std::vector<Assigned> assigned_;                    // variables, as far as is known
  std::map<const VariableRecord*, ValueId> entered_;  // what they are when a trip begins
  std::int32_t first_ = 0;                            // of the values that are carried
  ValueId condition_;
  ValueId again_;  // what the condition is at the end of a trip; invalid: it is known to fail
};

}  // namespace

Flow run_device_loop(Context& c, const ast::While& loop, const Value& first,
                     const Declared& declared) {
  return DeviceLoop(c, loop).run(first, declared);
}

}  // namespace mtf::host
