// The device of a session that only plans: each unit is lowered once, for the layout in use, and a
// tensor is where the plan would have put it. Nothing is allocated.

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "frontend/device.h"
#include "lowering/layout/targets.h"
#include "lowering/spmd.h"

namespace mtf {

// What was planned: with this it can be planned again.
struct PlannedUnit {
  const Unit* unit;
  HeldLayouts held;
};

struct PlannedTensor final : DeviceTensor {
  PlannedTensor(TensorType tensor_type, ValueLayout value_layout,
                std::shared_ptr<const PlannedUnit> planned_unit, std::size_t of_unit)
      : DeviceTensor(std::move(tensor_type)),
        layout(std::move(value_layout)),
        planned(std::move(planned_unit)),
        output(of_unit) {}

  ValueLayout layout;
  std::shared_ptr<const PlannedUnit> planned;  // that made it
  std::size_t output;                          // of its outputs, this one
};

class PlanDevice final : public DryDevice {
 public:
  PlanDevice(OpTable ops, bool exact) : ops_(ops), exact_(exact) {}

  bool use(const Layout* chosen, std::span<const Layout> declared, DiagSink& diags) override;
  std::optional<std::vector<TensorHandle>> run(const Unit& unit,
                                               std::span<const TensorHandle> arguments,
                                               DiagSink& diags) override;

  bool save(const SaveRequest& request, DiagSink& /*diags*/) override {
    written_.insert(request.path);
    return effects_ = true;
  }
  bool restore(const RestoreRequest& /*request*/, DiagSink& /*diags*/) override {
    return effects_ = true;
  }

  [[nodiscard]] const Layout& layout() const { return layout_; }
  // What made a tensor, under the layout in use; nullopt if that can no longer be planned.
  [[nodiscard]] std::optional<SpmdProgram> plan_of(const PlannedTensor& tensor) const;
  // Where a variable is; null until something uses it.
  [[nodiscard]] const ValueLayout* variable(std::string_view path) const;
  [[nodiscard]] const HeldLayouts& held() const { return held_; }
  // Variables that were used since are forgotten.
  void restore(HeldLayouts held, Layout layout) {
    held_ = std::move(held);
    layout_ = std::move(layout);
  }
  // Whether something has run since the last call that prints, asserts or writes.
  [[nodiscard]] bool take_effects() { return std::exchange(effects_, false); }
  // Files that what has run since writes, as far as a plan knows their names.
  [[nodiscard]] std::set<std::string> take_written() { return std::exchange(written_, {}); }
  // Whether anything has run at all since.
  [[nodiscard]] bool take_runs() { return std::exchange(runs_, false); }

 private:
  OpTable ops_;
  bool exact_;
  Layout layout_;
  HeldLayouts held_;
  std::map<const Unit*, std::vector<TensorHandle>> results_;
  bool effects_ = false;
  std::set<std::string> written_;
  bool runs_ = false;
};

}  // namespace mtf
