// Entries that run inside the unit of another: what they make there is all that they would make
// alone, so that they need not be built for their errors.

#include <algorithm>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/tensors/entries.h"

namespace mtf::host {
namespace {

// Built alone, it is given a tensor of the type where the type says all, but a number's default.
bool is_as_alone(Context& c, const Function& function, const ast::Parameter& parameter,
                 const std::optional<Operand>& argument) {
  const Restore scope(c.names.scope, std::make_shared<Scope>(function.scope));
  const bool is_tensor = parameter.type && parameter.type->dims.has_value();
  const std::optional<DeclaredType> declared =
      is_tensor ? evaluate_type(c, *parameter.type) : std::nullopt;
  const bool is_given = declared && (!parameter.initial || declared->type.shape.rank() > 0);
  if (!is_given) {
    return !argument && parameter.initial;
  }
  const auto* tensor = argument ? argument->value.get<Tensor>() : nullptr;
  return tensor != nullptr && tensor->where == Where::kRecorded && !tensor->whole &&
         tensor->type == declared->type;
}

}  // namespace

bool runs_as_alone(Context& c, const Function& function, const Arguments& arguments) {
  const Recording& unit = c.units.recording();
  const bool is_plain = c.units.recordings.size() == 1 && unit.kind == UnitKind::kFunction &&
                        unit.trips == 0 && !unit.alive.valid() &&
                        unit.builder.recompute().block < 0 && !c.units.precision &&
                        !c.layouts.region;
  const bool owns_all = owns_variables(*function.fn) && c.variables.by_path.empty() &&
                        c.variables.stacked.rank() == 0 && c.variables.picked.empty();
  if (!is_plain || !owns_all) {
    return false;
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_as_alone(c, function, function.fn->parameters[i], arguments[i])) {
      return false;
    }
  }
  return true;
}

void note_inside(Units& units, std::size_t first, const Value& result) {
  const Recording& unit = units.recording();
  const Program& program = unit.unit->program;
  RanInside inside;
  bool is_alone = true;
  static_cast<void>(map_tensors(result, [&](const Tensor& tensor) {
    is_alone = is_alone && tensor.where == Where::kRecorded && tensor.unit == unit.serial;
    inside.results.push_back({tensor.index});
  }));
  for (std::size_t i = first; i < program.values.size(); ++i) {
    const mtf::Value& value = program.values[i];
    is_alone = is_alone && value.region < 0 && (value.op == nullptr || !value.op->alias);
  }
  if (is_alone && !inside.results.empty()) {
    units.inside = std::move(inside);
  }
}

namespace {

// Alone, a value is there if one of its readers is, or if it is a result: here, too, but for
// results that become part of what reads them.
std::optional<std::vector<TensorType>> types_alone(const Program& program,
                                                   const RanInside& inside) {
  std::vector<char> is_live(program.values.size(), 0);
  for (const ValueId output : program.outputs) {
    is_live[at(output)] = 1;
  }
  for (const Update& update : program.updates) {
    is_live[at(update.value)] = 1;
  }
  for (std::size_t i = is_live.size(); i-- > 0;) {
    const mtf::Value& value = program.values[i];
    if (is_live[i] != 0 || (value.op != nullptr && value.op->effect)) {
      for (const ValueId operand : value.operands) {
        is_live[at(operand)] = 1;
      }
    }
  }
  std::vector<TensorType> types;
  for (const ValueId result : inside.results) {
    if (is_live[at(result)] == 0) {
      return std::nullopt;
    }
    types.push_back(program.at(result).type);
  }
  return types;
}

}  // namespace

void note_types(Units& units, const Recording& unit) {
  if (units.inside) {
    units.inside->types = types_alone(unit.unit->program, *units.inside);
  }
}

}  // namespace mtf::host
