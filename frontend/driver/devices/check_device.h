// The device of a check: each unit is lowered for the layouts in question, and nothing is run.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "frontend/device.h"
#include "lowering/layout/targets.h"
#include "runtime/checkpoint/read.h"

namespace mtf {

// Which layouts units are lowered for as the program runs them: none, the one in use, or all that
// the file declares.
enum class Lowered : std::uint8_t { kNot, kInUse, kEvery };

class CheckDevice : public DryDevice {
 public:
  explicit CheckDevice(Lowered lowered) : lowered_(lowered) {}

  bool use(const Layout* chosen, std::span<const Layout> declared, DiagSink& diags) override;
  std::optional<std::vector<TensorHandle>> run(const Unit& unit,
                                               std::span<const TensorHandle> arguments,
                                               DiagSink& diags) override;
  bool fit_layouts(std::span<const TensorType> types) override;

  void declare(Variable variable) override;
  // What a file is for: the variables that the program has by its end, wherever it is restored.
  bool restore(const RestoreRequest& request, DiagSink& diags) override;
  std::optional<std::string> note_of(const RestoreRequest& request, DiagSink& diags) override;
  void end(bool failed, DiagSink& diags) override;

  // Lowers a unit, and records what does not fit; a unit that was seen before is not lowered again.
  void check(const Unit& unit, DiagSink& diags);
  // Whether the initial values of variables can be computed under a layout.
  bool fit_initial_values(const Layout& layout, DiagSink& diags) const;
  // How often the file runs it.
  [[nodiscard]] std::int64_t calls(const Unit& unit) const;
  // All that were ever declared, by path.
  [[nodiscard]] const std::map<std::string, TensorType>& declared() const { return declared_; }
  // In the order in which they were first run.
  [[nodiscard]] std::span<const Unit* const> units() const { return units_; }
  // Where a unit that the file runs finds the variables of those that it runs before. Under `infer`
  // the first of them says it; elsewhere rules do, of any unit alike, and this is empty.
  [[nodiscard]] const HeldLayouts& held_before(const Unit& unit, const Layout& layout);

 private:
  // What a unit that the file runs declares before.
  struct Ran {
    const Unit* unit = nullptr;
    std::vector<Variable> declared;
  };

  void check_in_layouts(const Program& program, DiagSink& diags);
  [[nodiscard]] std::map<const Unit*, HeldLayouts> held_by_units(const Layout& layout) const;
  [[nodiscard]] bool is_first(const Diag& diag, const Layout& layout);
  void report(const Diag& diag, const Layout& layout, DiagSink& diags);

  Lowered lowered_;
  std::vector<Variable> variables_;
  std::vector<Program> initial_values_;  // those with dims that the variable lacks
  std::size_t initial_values_checked_ = 0;
  std::map<std::string, TensorType> declared_;
  std::vector<std::pair<RestoreRequest, std::shared_ptr<const CheckpointFile>>>
      restored_;  // null: what the file has is not known yet
  std::vector<Layout> layouts_;
  std::vector<const Unit*> units_;
  std::vector<Ran> ran_;                                            // in this order
  std::vector<Variable> to_be_made_;                                // by the next one
  std::map<std::string, std::map<const Unit*, HeldLayouts>> held_;  // by the layout's name
  std::map<const Unit*, std::int64_t> calls_;
  std::map<const Unit*, std::vector<TensorHandle>> results_;  // the same at each run
  std::set<std::tuple<std::string, DiagKind, std::uint32_t, std::int32_t, std::string>> reported_;
};

}  // namespace mtf
