#include "frontend/driver/repl/plan_device.h"

#include <algorithm>

#include "lowering/lower.h"

namespace mtf {

bool PlanDevice::use(const Layout* chosen, std::span<const Layout> /*declared*/,
                     DiagSink& /*diags*/) {
  layout_ = chosen == nullptr ? one_rank() : *chosen;
  return true;
}

std::optional<std::vector<TensorHandle>> PlanDevice::run(
    const Unit& unit, std::span<const TensorHandle> /*arguments*/, DiagSink& diags) {
  runs_ = true;
  for (const Value& value : unit.program.values) {
    effects_ = effects_ || (value.op != nullptr && value.op->effect);
    const auto* path = value.args.get<std::string>("path");
    if (value.op != nullptr && value.op->file == FileUse::kWrites && path != nullptr) {
      written_.insert(*path);
    }
  }
  if (const auto known = results_.find(&unit); known != results_.end()) {
    return known->second;
  }
  const std::optional<SpmdProgram> plan =
      lower_simplified(unit.program, layout_, ops_, diags, {.exact = exact_, .held = &held_});
  if (!plan) {
    return std::nullopt;
  }
  const auto planned = std::make_shared<const PlannedUnit>(PlannedUnit{&unit, held_});
  held_.merge(variable_layouts(*plan));
  std::vector<TensorHandle> handles;
  for (const SpmdId output : plan->outputs) {
    const SpmdValue& value = plan->at(output);
    handles.push_back(
        std::make_shared<PlannedTensor>(value.type, value.layout, planned, handles.size()));
  }
  results_.emplace(&unit, handles);
  return handles;
}

std::optional<SpmdProgram> PlanDevice::plan_of(const PlannedTensor& tensor) const {
  DiagSink known;
  return lower_simplified(tensor.planned->unit->program, layout_, ops_, known,
                          {.exact = exact_, .held = &tensor.planned->held});
}

const ValueLayout* PlanDevice::variable(std::string_view path) const {
  const auto found = held_.find(path);
  return found == held_.end() ? nullptr : &found->second;
}

}  // namespace mtf
