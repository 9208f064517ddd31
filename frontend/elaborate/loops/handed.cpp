// What loops on tensors hand from trip to trip: the `var`s that their bodies set.

#include <algorithm>

#include "frontend/elaborate/evaluate.h"
#include "frontend/elaborate/loops/loops.h"
#include "frontend/elaborate/precision/precision.h"
#include "frontend/elaborate/tensors/arguments/whole_numbers.h"

namespace mtf::host {
namespace {

void collect(const ast::Block& block, std::vector<ast::Name>& names);

void collect(const ast::Stmt& statement, std::vector<ast::Name>& names) {
  if (const auto* assign = std::get_if<ast::Assign>(&statement.node)) {
    names.insert(names.end(), assign->names.begin(), assign->names.end());
  } else if (const auto* loop = std::get_if<ast::For>(&statement.node)) {
    collect(loop->body, names);
  } else if (const auto* repeat = std::get_if<ast::While>(&statement.node)) {
    collect(repeat->body, names);
  } else if (const auto* region = std::get_if<ast::WithLayout>(&statement.node)) {
    collect(region->body, names);
  } else if (const auto* narrow = std::get_if<ast::WithPrecision>(&statement.node)) {
    collect(narrow->body, names);
  } else if (const auto* again = std::get_if<ast::Recompute>(&statement.node)) {
    collect(again->body, names);
  } else if (const auto* choice = std::get_if<ast::If>(&statement.node)) {
    for (const ast::Branch& branch : choice->branches) {
      collect(branch.body, names);
    }
    if (choice->otherwise) {
      collect(*choice->otherwise, names);
    }
  }
}

void collect(const ast::Block& block, std::vector<ast::Name>& names) {
  for (const ast::Stmt& statement : block.statements) {
    collect(statement, names);
  }
}

}  // namespace

std::vector<ast::Name> assigned_in(const ast::Block& block) {
  std::vector<ast::Name> names;
  collect(block, names);
  return names;
}

std::vector<Handed> handed_by(const Names& names, const ast::Block& body) {
  std::vector<Handed> handed;
  for (ast::Name& name : assigned_in(body)) {
    Binding* binding = names.scope->find(name.text).binding;
    const bool is_known = std::ranges::find(handed, binding, &Handed::binding) != handed.end();
    if (binding != nullptr && binding->kind == NameKind::kVar && !is_known) {
      handed.push_back({.name = std::move(name), .binding = binding});
    }
  }
  return handed;
}

Value as_tensors(Context& c, const Value& value, SourceSpan span, SourceSpan declared) {
  if (const auto* list = value.get<List>()) {
    Values items;
    for (const Value& item : *list->items) {
      items.push_back(as_tensors(c, item, span, declared));
    }
    return make_list(std::move(items));
  }
  std::optional<ValueId> id;
  if (const auto* tensor = value.get<Tensor>()) {
    id = record(c.units, *tensor, span);
  } else if (is_number(value) && !value.is<Dim>()) {
    const DType dtype = value.is<bool>()     ? DType::kBool
                        : value.is<double>() ? DType::kF32
                                             : DType::kI32;
    id = lift(c.units, {.value = value, .span = span}, dtype);
  } else {
    return value;
  }
  Value tensor = id ? recorded(c.units, *id) : unknown();
  if (id && value.is<std::int64_t>()) {
    std::get<Tensor>(tensor.node).whole_since = declared;
  }
  return tensor;
}

namespace {

// var total = 0, and a float behind the first trip.
bool becomes_float(const Value& before, const Value& now) {
  const auto* tensor = before.get<Tensor>();
  const auto* other = now.get<Tensor>();
  return tensor != nullptr && tensor->whole_since.file.valid() &&
         (other == nullptr ? now.is<double>()
                           : other->type.dtype == DType::kF32 && other->type.shape.rank() == 0);
}

bool is_alike(const Tensor& before, const Value& now) {
  const auto* tensor = now.get<Tensor>();
  return tensor != nullptr ? tensor->type.dtype == before.type.dtype &&
                                 same_dims(tensor->type.shape, before.type.shape)
                           : is_number(now) && before.type.shape.rank() == 0;
}

std::string type_or_kind(const Value& value) {
  const auto* tensor = value.get<Tensor>();
  if (const auto* list = value.get<List>()) {
    return "a list of " + std::to_string(list->items->size());
  }
  return tensor != nullptr ? mtf::to_string(tensor->type) : kind_of(value);
}

std::string changed_text(const ast::Name& name, const Value& before, const Value& now) {
  const bool is_list = before.is<List>();
  if (!before.is<Tensor>() && !is_list && kind_of(before) == kind_of(now)) {
    return "`" + name.text + "` is " + kind_of(now) +
           ", which a loop whose condition is a tensor cannot set: only tensors and numbers are "
           "handed from trip to trip";
  }
  return "`" + name.text + "` is " + type_or_kind(before) +
         " when a trip of this loop begins and " + type_or_kind(now) +
         " when it ends; the condition is a tensor, so it has to stay what it is: " +
         (is_list ? "a tensor that is long enough takes what comes, by `dynamic_update`"
                  : "`cast` or `reshape` it, or use another name");
}

}  // namespace

std::optional<Value> after_trip(Context& c, const ast::Name& name, const Value& before,
                                const Value& set) {
  const auto* list = before.get<List>();
  const auto* others = set.get<List>();
  if (list != nullptr && others != nullptr && list->items->size() == others->items->size()) {
    Values items;
    for (std::size_t i = 0; i < list->items->size(); ++i) {
      std::optional<Value> item = after_trip(c, name, (*list->items)[i], (*others->items)[i]);
      if (!item) {
        return std::nullopt;
      }
      items.push_back(*std::move(item));
    }
    return make_list(std::move(items));
  }
  const auto* tensor = before.get<Tensor>();
  const Value now = as_before(c.units, before, set, name.span);
  if (becomes_float(before, now)) {
    c.report.error(DiagKind::kDtypeMismatch, name.span,
                   "`" + name.text + "` begins as an int, and is a float behind a trip of this " +
                       "loop; begin with a float, as `0.0`",
                   {begins_here(*tensor, name.text)});
    return std::nullopt;
  }
  if (tensor == nullptr ? !equal(before, now) : !is_alike(*tensor, now)) {
    c.report.error(DiagKind::kWrongType, name.span, changed_text(name, before, now));
    return std::nullopt;
  }
  if (tensor == nullptr) {
    return now;
  }
  const Operand operand{.value = now, .span = name.span};
  const std::optional<ValueId> id = fitted(c.units, operand, tensor->type);
  return id ? std::optional(recorded(c.units, *id)) : std::nullopt;
}

bool is_on_device(const Context& c, const Value& condition) {
  return condition.is<Tensor>() && !c.units.at_top_level();
}

Declared declared_so_far(const Context& c) {
  return c.variables.root == nullptr ? Declared() : c.variables.root->declared;
}

void declare_again(Context& c, const Declared& declared) {
  if (c.variables.root != nullptr) {
    c.variables.root->declared = declared;
  }
}

std::optional<ValueId> loop_condition(Context& c, const Operand& condition) {
  const auto* tensor = condition.value.get<Tensor>();
  if (tensor == nullptr) {
    return condition.value.is<bool>() ? lift(c.units, condition, DType::kBool) : std::nullopt;
  }
  if (tensor->type.shape.rank() == 0 && tensor->type.dtype == DType::kBool) {
    return record(c.units, *tensor, condition.span);
  }
  c.report.error(
      DiagKind::kWrongType, condition.span,
      "the condition is " + mtf::to_string(tensor->type) +
          (tensor->type.dtype != DType::kBool ? "; compare it, as `x > 0` does"
                                              : "; `all(…)` or `any(…)` makes one bool of it"));
  return std::nullopt;
}

}  // namespace mtf::host
