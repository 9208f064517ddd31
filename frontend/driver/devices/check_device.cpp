// A program may call a function ten thousand times: only its first call costs anything here.

#include "frontend/driver/devices/check_device.h"

#include <algorithm>
#include <utility>

#include "frontend/driver/devices/restored.h"
#include "lowering/layout/targets.h"
#include "lowering/lower.h"

namespace mtf {
namespace {

// Whether its initial value has dims that it lacks. Of others, what reads the variable shows what
// does not fit.
bool has_own_dims(const Variable& variable) {
  return std::ranges::any_of(variable.init.values, [&](const Value& value) {
    return std::ranges::any_of(value.type.shape.dims(), [&](const Dim& dim) {
      return variable.type.shape.find(dim.name) == nullptr;
    });
  });
}

// A program that has the variable, and does nothing with it: where it lies by its rules.
Program alone(const Variable& variable) {
  Program program;
  program.values.push_back({.op = nullptr, .operands = {}, .args = {}, .type = variable.type});
  program.inputs.push_back({.value = ValueId{0}, .kind = InputKind::kParam, .name = variable.path});
  return program;
}

}  // namespace

bool CheckDevice::use(const Layout* chosen, std::span<const Layout> declared, DiagSink& /*diags*/) {
  if (lowered_ == Lowered::kEvery) {
    layouts_.assign(declared.begin(), declared.end());
  } else if (lowered_ == Lowered::kInUse && chosen != nullptr) {
    layouts_ = {*chosen};
  }
  return true;
}

std::optional<std::vector<TensorHandle>> CheckDevice::run(
    const Unit& unit, std::span<const TensorHandle> /*arguments*/, DiagSink& diags) {
  if (++calls_[&unit] == 1) {
    ran_.push_back({&unit, std::exchange(to_be_made_, {})});
  }
  check(unit, diags);
  // A layout that does not fit leaves the types as they are, so the rest can still be checked.
  return results_.at(&unit);
}

bool CheckDevice::fit_layouts(std::span<const TensorType> types) {
  Program program;
  for (const TensorType& type : types) {
    program.values.push_back({.op = nullptr, .operands = {}, .args = {}, .type = type});
  }
  return std::ranges::all_of(layouts_, [&program](const Layout& layout) {
    const bool is_plain = !layout.infer && !layout.automatic &&
                          std::ranges::none_of(layout.variables, &VariableRules::lets);
    DiagSink found;
    return is_plain && targets_of(program, layout, {}, found).has_value();
  });
}

void CheckDevice::declare(Variable variable) {
  variables_.push_back(variable.without_init());
  to_be_made_.push_back(variables_.back());
  declared_.insert_or_assign(variable.path, variable.type);
  if (has_own_dims(variable)) {
    initial_values_.push_back(std::move(variable.init));
  }
}

bool CheckDevice::restore(const RestoreRequest& request, DiagSink& diags) {
  std::shared_ptr<const CheckpointFile> file;
  if (!request.path.empty() && !request.is_of_this_run) {
    file = std::make_shared<const CheckpointFile>(request.path);
  }
  if (file == nullptr || file->is_missing()) {  // it may be there when the program comes to it
    restored_.emplace_back(request, nullptr);
    return true;
  }
  if (!file->problem().empty()) {
    diags.add(unreadable(request, file->problem()));
    return false;
  }
  restored_.emplace_back(request, std::move(file));
  return true;
}

std::optional<std::string> CheckDevice::note_of(const RestoreRequest& request, DiagSink& diags) {
  return note_in(request, request.path, /*may_be_missing=*/true, diags);
}

void CheckDevice::end(bool failed, DiagSink& diags) {
  for (const auto& [request, file] : restored_) {
    const bool fits = (file == nullptr || compare(request, *file, variables_, diags)) &&
                      globs_are_known(request, variables_, failed, diags);
    if (fits && file != nullptr && !failed) {
      warn_of_others(request, *file, variables_, diags);
    }
  }
  variables_.clear();
  restored_.clear();
}

const HeldLayouts& CheckDevice::held_before(const Unit& unit, const Layout& layout) {
  static const HeldLayouts none;
  const auto [known, is_new] = held_.try_emplace(layout.name);
  if (is_new) {  // of all units at once, as commands take what they have told of
    known->second = held_by_units(layout);
  }
  const auto found = known->second.find(&unit);
  return found == known->second.end() ? none : found->second;
}

std::map<const Unit*, HeldLayouts> CheckDevice::held_by_units(const Layout& layout) const {
  std::map<const Unit*, HeldLayouts> result;
  HeldLayouts held;
  if (!layout.infer) {
    return result;
  }
  for (const Ran& ran : ran_) {
    result.emplace(ran.unit, held);
    held.merge(variable_layouts(ran.unit->program, layout, held));
    for (const Variable& variable : ran.declared) {
      held.merge(variable_layouts(alone(variable), layout, held));
    }
  }
  return result;
}

std::int64_t CheckDevice::calls(const Unit& unit) const {
  const auto found = calls_.find(&unit);
  return found == calls_.end() ? 0 : found->second;
}

void CheckDevice::check(const Unit& unit, DiagSink& diags) {
  const auto [entry, is_new] = results_.try_emplace(&unit);
  if (!is_new) {
    return;
  }
  units_.push_back(&unit);
  for (const ValueId output : unit.program.outputs) {
    entry->second.push_back(std::make_shared<DeviceTensor>(unit.program.at(output).type));
  }
  if (layouts_.empty()) {
    return;
  }
  for (; initial_values_checked_ < initial_values_.size(); ++initial_values_checked_) {
    check_in_layouts(initial_values_[initial_values_checked_], diags);
  }
  check_in_layouts(unit.program, diags);
}

bool CheckDevice::fit_initial_values(const Layout& layout, DiagSink& diags) const {
  bool fit = true;
  for (const Program& value : initial_values_) {
    fit = fits(value, layout, diags) && fit;
  }
  return fit;
}

void CheckDevice::check_in_layouts(const Program& program, DiagSink& diags) {
  for (const Layout& layout : layouts_) {
    DiagSink found;
    (void)fits(program, layout, found);
    for (const Diag& diag : found.diags()) {
      report(diag, layout, diags);
    }
  }
}

// Rules that do not fit are said of the first tensor that shows it; the others would only repeat
// it.
bool CheckDevice::is_first(const Diag& diag, const Layout& layout) {
  std::string what;
  SourceSpan where = diag.span;
  for (const Note& note : diag.notes) {
    if (note.text.find(" is a rule of ") != std::string::npos) {
      where = note.span;
      what += note.text;
    }
  }
  what +=
      what.empty() ? diag.text : diag.text.substr(std::min(diag.text.rfind(';'), diag.text.size()));
  return reported_.emplace(layout.name, diag.kind, where.begin, where.file.index, what).second;
}

void CheckDevice::report(const Diag& diag, const Layout& layout, DiagSink& diags) {
  if (!is_first(diag, layout)) {
    return;
  }
  Diag noted = diag;
  const std::string name = "layout `" + layout.name + "`";
  const bool says_so = std::ranges::any_of(
      noted.notes, [&](const Note& note) { return note.text.find(name) != std::string::npos; });
  if (!says_so && !layout.name.empty()) {
    noted.notes.push_back({.span = layout.span, .text = "under " + name});
  }
  diags.add(std::move(noted));
}

}  // namespace mtf
