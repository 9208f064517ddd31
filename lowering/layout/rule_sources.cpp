// A variable's rules are also those of what is computed in its place: its gradient, its update; and
// of all that its initial value is computed from, since no entry says how that is to lie.

#include "lowering/layout/rule_sources.h"

#include <algorithm>

namespace mtf {
namespace {

bool is_for(const Pin& pin, const Mesh& mesh) {
  return std::ranges::all_of(pin.rules,
                             [&mesh](const NamedRule& rule) { return names_axes_of(mesh, rule); });
}

}  // namespace

ValueId root_of(const Program& program, ValueId id) {
  while (program.at(id).op != nullptr && program.at(id).op->alias) {
    id = program.at(id).operands.front();
  }
  return id;
}

const Pin* pin_on(const Value& value, const Mesh& mesh) {
  const Pin* pin = value.op != nullptr && value.op->alias ? value.args.get<Pin>("layout") : nullptr;
  return pin != nullptr && is_for(*pin, mesh) ? pin : nullptr;
}

std::vector<Rule> rules_of(const Pin& pin, const Mesh& mesh) {
  std::vector<Rule> rules;
  for (const NamedRule& rule : pin.rules) {
    rules.push_back(resolved(rule, mesh));
  }
  return rules;
}

RuleSources::RuleSources(const Program& program, const Layout& layout)
    : program_(program), layout_(layout), variable_(program.values.size()) {
  for (const Input& input : program_.inputs) {
    if (input.is_variable()) {
      variable_[at(input.value)] = &input.name;
    }
  }
  for (const Update& update : program_.updates) {
    belongs(update.value, program_.inputs[update.input].name,
            program_.at(program_.inputs[update.input].value).type.shape);
  }
  for (std::size_t i = 0; i < program_.values.size(); ++i) {
    const Value& value = program_.values[i];
    if (!value.variable.empty() && variable_[i] == nullptr) {
      belongs({static_cast<std::int32_t>(i)}, value.variable, value.type.shape);
    }
  }
  if (const std::string* variable = initialised()) {
    std::ranges::replace(variable_, nullptr, variable);
  }
  if (has_let_blocks()) {
    lets_ = LetBlocks(program_, layouts_of_free());
  }
}

// The variable of which the program gives the initial value; or null.
const std::string* RuleSources::initialised() const {
  if (!program_.inputs.empty() || program_.outputs.size() != 1) {
    return nullptr;
  }
  const std::string& variable = program_.at(program_.outputs.front()).variable;
  return variable.empty() ? nullptr : &variable;
}

bool RuleSources::has_let_blocks() const {
  const auto has_some = [](const Layout& layout) {
    return std::ranges::any_of(layout.variables, &VariableRules::lets);
  };
  return has_some(layout_) || std::ranges::any_of(program_.regions, has_some);
}

std::vector<const Layout*> RuleSources::layouts_of_free() const {
  std::vector<const Layout*> layouts(program_.values.size());
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const Value& value = program_.values[i];
    const bool is_free = variable_[i] == nullptr && pin_on(value, layout_.mesh) == nullptr;
    layouts[i] = is_free ? &layout_of(value) : nullptr;
  }
  return layouts;
}

// The value, and element by element what it is made of.
void RuleSources::belongs(ValueId root, const std::string& path, const Shape& shape) {
  std::vector<ValueId> to_visit = {root};
  while (!to_visit.empty()) {
    const ValueId id = to_visit.back();
    to_visit.pop_back();
    const Value& value = program_.at(id);
    if (value.op == nullptr || variable_[at(id)] != nullptr ||
        pin_on(value, layout_.mesh) != nullptr || !same_dims(value.type.shape, shape)) {
      continue;
    }
    variable_[at(id)] = &path;
    if (value.op->tile != nullptr) {
      to_visit.insert(to_visit.end(), value.operands.begin(), value.operands.end());
    }
  }
}

const Layout& RuleSources::layout_of(const Value& value) const {
  if (value.region < 0) {
    return layout_;
  }
  const Layout& region = program_.regions[static_cast<std::size_t>(value.region)];
  const bool is_other = region.name != layout_.name && region.mesh.axes == layout_.mesh.axes;
  return is_other ? region : layout_;  // whatever is tried under its name
}

RuleSource RuleSources::of(ValueId id) const {
  const Value& value = program_.at(id);
  RuleSource source{
      .layout = &layout_, .variable = variable_[at(id)], .pin = pin_on(value, layout_.mesh)};
  if (source.variable == nullptr) {
    source.layout = &layout_of(value);
    source.blocks = lets_.of(id);
  }
  return source;
}

}  // namespace mtf
