// The device of a session that runs: a mesh simulated in this process, or ranks of their own, and
// from one to the other at any time.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "frontend/driver/devices/execute_device.h"
#include "frontend/driver/repl/ranks/workers.h"

namespace mtf {

class SessionDevice final : public Device {
 public:
  // `workers`: null for none. They run what is laid out over as many ranks; on one rank, a program
  // runs here.
  SessionDevice(ExecuteOptions options, Workers* workers);

  bool use(const Layout* chosen, std::span<const Layout> declared, DiagSink& diags) override;
  void declare(Variable variable) override;
  std::optional<std::vector<TensorHandle>> run(const Unit& unit,
                                               std::span<const TensorHandle> arguments,
                                               DiagSink& diags) override;
  std::optional<double> scalar(const TensorHandle& tensor) override;
  std::optional<HostTensor> value(const TensorHandle& tensor) override;
  std::optional<std::string> text(const TensorHandle& tensor, const NumberFormat& numbers) override;
  void print(std::string_view line) override { options_.print(line); }
  bool save(const SaveRequest& request, DiagSink& diags) override {
    return held_->save(request, diags);
  }
  bool restore(const RestoreRequest& request, DiagSink& diags) override {
    return held_->restore(request, diags);
  }
  std::optional<std::string> note_of(const RestoreRequest& request, DiagSink& diags) override {
    return held_->note_of(request, diags);
  }

  void begin() { held_->begin(); }
  void undo() { held_->undo(); }
  bool switch_to(const Layout& layout, const HeldLayouts& wanted, DiagSink& diags);
  // What is held goes to the ranks, or comes back from them. The bytes that moved.
  std::int64_t move_to(Workers* workers);

 private:
  struct Shared;

  [[nodiscard]] std::unique_ptr<HoldingDevice> made(Workers* workers) const;
  TensorHandle shared(TensorHandle tensor);
  void forget_dead();

  ExecuteOptions options_;
  Workers* workers_;
  std::unique_ptr<HoldingDevice> held_;  // before a layout is in use, this process's
  std::optional<Layout> layout_;         // in use; none: one rank
  bool is_in_use_ = false;
  std::vector<std::weak_ptr<const Shared>> live_;  // that the session may still have
  std::size_t checked_ = 0;                        // how many there were when the dead were dropped
};

}  // namespace mtf
