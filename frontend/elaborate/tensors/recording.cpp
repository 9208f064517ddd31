// Inputs of a unit under construction.

#include "frontend/elaborate/tensors/recording.h"

#include <algorithm>
#include <utility>

#include "ir/rewrite/rewrite.h"

namespace mtf::host {

Recording::Recording(UnitKind unit_kind, std::uint64_t number, std::string program_name,
                     OpTable ops, std::size_t failures)
    : kind(unit_kind),
      serial(number),
      unit(std::make_unique<Unit>()),
      builder(unit->program, ops, diags),
      failures_before(failures) {
  unit->program.name = std::move(program_name);
  unit->is_entry = unit_kind == UnitKind::kFunction;
}

ValueId Recording::capture(const Tensor& tensor) {
  const auto [found, is_new] = captured_.try_emplace(tensor.handle.get(), arguments_.size());
  if (is_new) {
    arguments_.push_back(tensor.handle);
    argument_values_.push_back(builder.input(InputKind::kCaptured, tensor.name, tensor.type));
  }
  return argument_values_[found->second];
}

ValueId Recording::argument(std::string name, const Tensor& tensor) {
  arguments_.push_back(tensor.handle);
  argument_values_.push_back(builder.input(InputKind::kArgument, std::move(name), tensor.type));
  return argument_values_.back();
}

VariableUse& Recording::use(const std::shared_ptr<VariableRecord>& variable) {
  const auto [place, is_new] = places_.try_emplace(variable.get(), variables_.size());
  if (!is_new) {
    return variables_[place->second];
  }
  const mtf::Variable& declared = variable->variable;
  const ValueId value = builder.input(declared.trained ? InputKind::kParam : InputKind::kState,
                                      declared.path, declared.type);
  variables_.push_back(
      {.variable = variable, .input = program().inputs.size() - 1, .versions = {value}});
  return variables_.back();
}

ValueId Recording::read(const std::shared_ptr<VariableRecord>& variable) {
  return use(variable).versions.back();
}

void Recording::assign(const std::shared_ptr<VariableRecord>& variable, ValueId value) {
  use(variable).versions.push_back(value);
}

std::optional<std::size_t> Recording::slot_of(const TensorHandle& handle) const {
  const auto found = captured_.find(handle.get());
  return found == captured_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> Recording::slot_of(ValueId input) const {
  const auto found = std::ranges::find(argument_values_, input);
  return found == argument_values_.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(found - argument_values_.begin()));
}

void Recording::add_output(Tensor& tensor) {
  const ValueId id{tensor.index};
  std::vector<ValueId>& outputs = program().outputs;
  const auto found = std::ranges::find(outputs, id);
  tensor.where = Where::kOutput;
  tensor.index = static_cast<std::int32_t>(found - outputs.begin());
  if (found == outputs.end()) {
    outputs.push_back(id);
  }
}

RecordingMark Recording::mark() const {
  const Program& program = unit->program;
  RecordingMark mark{.values = program.values.size(),
                     .inputs = program.inputs.size(),
                     .lets = program.lets.size(),
                     .contracts = unit->contracts.size(),
                     .arguments = arguments_.size(),
                     .versions = {}};
  for (const VariableUse& use : variables_) {
    mark.versions.push_back(use.versions.size());
  }
  return mark;
}

namespace {

template <typename T>
void cut(std::vector<T>& list, std::size_t size) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(size), list.end());
}

}  // namespace

void Recording::forget_since(const RecordingMark& mark) {
  builder.forget_since({static_cast<std::int32_t>(mark.values)});
  cut(program().inputs, mark.inputs);
  cut(program().lets, mark.lets);
  cut(unit->contracts, mark.contracts);
  cut(arguments_, mark.arguments);
  cut(argument_values_, mark.arguments);
  std::erase_if(captured_, [&](const auto& one) { return one.second >= mark.arguments; });
  cut(variables_, mark.versions.size());
  std::erase_if(places_, [&](const auto& one) { return one.second >= mark.versions.size(); });
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    cut(variables_[i].versions, mark.versions[i]);
  }
}

void Recording::finish() {
  for (const VariableUse& use : variables_) {
    if (use.versions.size() > 1) {
      program().updates.push_back({.input = use.input, .value = use.versions.back()});
    }
  }
}

bool Recording::acts() const {
  const Program& program = unit->program;
  return !program.updates.empty() ||
         std::ranges::any_of(program.values, [](const mtf::Value& value) {
           return value.op != nullptr && value.op->effect;
         });
}

Units::Units(OpTable table, bool keeps_written, Execution& runs_on, Reporter& reporter)
    : ops(table), as_written(keeps_written), execution(runs_on), report(reporter) {}

bool Units::in_function() const {
  return !recordings.empty() && recordings.back()->kind != UnitKind::kStatement;
}

bool Units::calls_are_units() const {
  return recordings.empty() ||
         (recordings.back()->kind == UnitKind::kStatement && !recordings.back()->inline_calls);
}

std::uint64_t Units::serial() const {
  return recordings.empty() ? 0 : recordings.back()->serial;
}

bool Units::failed(const Recording& unit) const {
  return report.failures() > unit.failures_before;
}

Recording& Units::open(UnitKind kind, std::string name) {
  recordings.push_back(
      std::make_unique<Recording>(kind, next_++, std::move(name), ops, report.failures()));
  return *recordings.back();
}

std::unique_ptr<Recording> Units::close() {
  take_diags();
  std::unique_ptr<Recording> closed = std::move(recordings.back());
  recordings.pop_back();
  return closed;
}

void Units::note_read(const Scope::Found& found) {
  for (const std::unique_ptr<Recording>& unit : recordings) {
    if (unit->kind != UnitKind::kFunction || found.scope->unit() >= unit->serial) {
      continue;
    }
    if (std::ranges::find(unit->reads, found.binding, &OutsideRead::binding) != unit->reads.end()) {
      return;
    }
    unit->reads.push_back({.scope = found.scope->shared_from_this(),
                           .binding = found.binding,
                           .value = found.binding->value});
  }
}

Program Units::simplified(Program program) const {
  return as_written ? std::move(program) : simplify(std::move(program), ops);
}

void Units::take_diags() {
  Recording& unit = recording();
  report.forward(unit.diags, true);
  unit.diags = DiagSink();
}

}  // namespace mtf::host
