// Statement units, and every word with the device.

#include "frontend/elaborate/tensors/units.h"

#include <algorithm>

namespace mtf::host {
namespace {

// `from`: what it was while it was computed.
Tensor held(TensorHandle handle, const Tensor& from) {
  TensorType type = handle->type;
  return {.where = Where::kHandle,
          .type = std::move(type),
          .handle = std::move(handle),
          .variable = nullptr,
          .index = -1,
          .unit = 0,
          .name = from.name,
          .whole = from.whole};
}

// A loop may make another unit at each turn, as of the text of a line: of many, those that were not
// run for long go.
void forget_some(Units& units) {
  const std::size_t before = units.of_statements.size();
  if (before < units.most_statements) {
    return;
  }
  std::vector<std::uint64_t> used;
  for (const auto& [key, statement] : units.of_statements) {
    used.push_back(statement.used);
  }
  const auto middle = used.begin() + static_cast<std::ptrdiff_t>(before / 2);
  std::ranges::nth_element(used, middle);
  std::erase_if(units.of_statements, [&, limit = *middle](const auto& one) {
    return one.second.used < limit && units.execution.forget(*one.second.unit);
  });
  units.most_statements *= units.of_statements.size() == before ? 2 : 1;
}

// The same text from the same place is the same unit, in every turn of a loop.
const Unit& cached(Units& units, std::unique_ptr<Unit> unit) {
  SourceSpan span;
  for (const mtf::Value& value : unit->program.values) {
    if (value.op != nullptr) {
      span = value.span;
    }
  }
  std::string regions;
  for (const Layout& region : unit->program.regions) {
    regions += " " + region.name;
  }
  const std::string key = std::to_string(span.file.index) + ":" + std::to_string(span.begin) + ":" +
                          std::to_string(span.end) + regions + "\n" + mtf::to_string(unit->program);
  if (!units.of_statements.contains(key)) {
    forget_some(units);
  }
  StatementUnit& kept = units.of_statements[key];
  kept.used = ++units.statements;
  if (kept.unit == nullptr) {
    unit->program = units.simplified(std::move(unit->program));
    kept.unit = std::move(unit);
  }
  return *kept.unit;
}

// Adds the outputs that the values need. A tensor that came in as it is needs none.
void add_outputs(Recording& unit, Values& values) {
  for (Value& value : values) {
    value = map_tensors(std::move(value), [&unit](Tensor& tensor) {
      if (tensor.where != Where::kRecorded || tensor.unit != unit.serial) {
        return;
      }
      const ValueId id{tensor.index};
      if (const std::optional<std::size_t> slot = unit.slot_of(id)) {
        tensor = held(unit.arguments()[*slot], tensor);
        return;
      }
      unit.add_output(tensor);
    });
  }
}

Values all_unknown(std::size_t count) {
  Values values(count, unknown());
  return values;
}

std::optional<std::vector<Pieces>> evaluate_parts(Context& c, std::span<const ast::Expr> exprs) {
  std::vector<Pieces> parts;
  for (const ast::Expr& expr : exprs) {
    if (std::optional<Pieces> part = evaluate_pieces(c, expr)) {
      parts.push_back(*std::move(part));
    }
  }
  return parts.size() == exprs.size() ? std::optional(std::move(parts)) : std::nullopt;
}

Values tensors_of(const Pieces& pieces) {
  Values tensors;
  for (const Piece& piece : pieces) {
    if (const auto* operand = std::get_if<Operand>(&piece.node)) {
      tensors.push_back(operand->value);
    }
  }
  return tensors;
}

void take_outputs(Values& values, const std::vector<TensorHandle>& handles) {
  for (Value& value : values) {
    value = map_tensors(std::move(value), [&handles](Tensor& tensor) {
      if (tensor.where == Where::kOutput) {
        tensor = held(handles[static_cast<std::size_t>(tensor.index)], tensor);
      }
    });
  }
}

}  // namespace

Value frozen(Units& units, Value value, SourceSpan span) {
  if (const auto* results = value.get<Results>()) {
    Values items;
    for (const Value& item : *results->items) {
      items.push_back(frozen(units, item, span));
    }
    return make(Results{std::make_shared<const Values>(std::move(items))});
  }
  const bool is_list = value.is<List>();
  return map_tensors(std::move(value), [&](Tensor& tensor) {
    if (tensor.where == Where::kVariable && !(is_list && tensor.lasting)) {
      if (const std::optional<ValueId> id = record(units, tensor, span)) {
        tensor = *recorded(units, *id).get<Tensor>();
      }
    }
  });
}

namespace {

// A list that grows by a statement in a loop is copied and looked through each time, which is as
// much work as so many statements.
std::size_t statements_for(const Values& values) {
  constexpr std::size_t kItemsPerStatement = 250;
  std::size_t items = 0;
  for (const Value& value : values) {
    const auto* list = value.get<List>();
    items += list == nullptr ? 0 : list->items->size();
  }
  return items / kItemsPerStatement;
}

}  // namespace

Values compute(Context& c, const std::function<Values()>& evaluate, bool freeze) {
  enter_region(c.layouts, c.units.open(UnitKind::kStatement, "top level"));
  const Restore frame(c.units.frame, std::int32_t{-1});
  Values values = evaluate();
  c.limits.statements += statements_for(values);
  if (freeze) {
    for (Value& value : values) {
      value = frozen(c.units, std::move(value), c.units.recording().builder.span());
    }
  }
  const std::unique_ptr<Recording> unit = c.units.close();
  if (c.units.failed(*unit)) {
    return all_unknown(values.size());
  }
  add_outputs(*unit, values);
  unit->finish();
  if (unit->program().outputs.empty() && !unit->acts()) {
    return values;
  }
  const std::vector<TensorHandle> arguments = unit->arguments();
  const auto handles =
      run_unit(c.report, c.layouts, c.execution, cached(c.units, std::move(unit->unit)), arguments);
  if (!handles) {
    return all_unknown(values.size());
  }
  take_outputs(values, *handles);
  return values;
}

Value compute(Context& c, const ast::Expr& expr, bool freeze) {
  return compute(
             c, [&] { return Values{evaluate(c, expr)}; }, freeze)
      .front();
}

std::optional<Pieces> compute_pieces(Context& c, std::span<const ast::Expr> exprs) {
  std::optional<Pieces> pieces;
  const auto evaluate = [&] {
    if (const auto parts = evaluate_parts(c, exprs)) {
      pieces = joined(*parts);
    }
    return pieces ? tensors_of(*pieces) : Values();
  };
  const Values tensors = compute(c, evaluate);
  if (!pieces) {
    return std::nullopt;
  }
  std::size_t next = 0;
  for (Piece& piece : *pieces) {
    if (auto* operand = std::get_if<Operand>(&piece.node)) {
      operand->value = tensors[next++];
      if (!operand->value.is<Tensor>()) {
        return std::nullopt;
      }
    }
  }
  return pieces;
}

Value evaluate_bound(Context& c, const ast::Expr& expr) {
  return c.units.at_top_level() ? compute(c, expr) : frozen(c.units, evaluate(c, expr), expr.span);
}

std::optional<std::vector<TensorHandle>> run_unit(Reporter& report, Layouts& layouts,
                                                  Execution& execution, const Unit& unit,
                                                  std::span<const TensorHandle> arguments) {
  if (!put_in_use(report, layouts, execution)) {
    return std::nullopt;
  }
  return execution.run(unit, arguments);
}

std::optional<TensorHandle> device_number(Context& c, const Operand& number, DType dtype) {
  const auto make_number = [&]() -> Values {
    const std::optional<ValueId> id = lift(c.units, number, dtype);
    return {id ? recorded(c.units, *id) : unknown()};
  };
  const Value value = compute(c, make_number).front();
  const auto* tensor = value.get<Tensor>();
  return tensor == nullptr ? std::nullopt : std::optional(tensor->handle);
}

}  // namespace mtf::host
