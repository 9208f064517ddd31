// The device of a session that has ranks: each is told what to run, and holds its slices.

#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "frontend/driver/devices/holding_device.h"
#include "frontend/driver/repl/ranks/workers.h"

namespace mtf {

class RemoteDevice final : public HoldingDevice {
 public:
  // The workers outlive the device. They hold nothing from here on.
  RemoteDevice(Workers& workers, const wire::Start& start,
               std::function<void(std::string_view)> print);

  bool use(const Layout* chosen, std::span<const Layout> declared, DiagSink& diags) override;
  void declare(Variable variable) override;
  std::optional<std::vector<TensorHandle>> run(const Unit& unit,
                                               std::span<const TensorHandle> arguments,
                                               DiagSink& diags) override;
  std::optional<double> scalar(const TensorHandle& tensor) override;
  std::optional<HostTensor> value(const TensorHandle& tensor) override;
  std::optional<std::string> text(const TensorHandle& tensor, const NumberFormat& numbers) override;
  void print(std::string_view line) override { print_(line); }
  bool save(const SaveRequest& request, DiagSink& diags) override;
  bool restore(const RestoreRequest& request, DiagSink& diags) override;
  std::optional<std::string> note_of(const RestoreRequest& request, DiagSink& diags) override;

  void begin() override;
  void undo() override;
  bool switch_to(const Layout& layout, const HeldLayouts& wanted, DiagSink& diags) override;
  HeldState state() override;
  HeldTensor read(const TensorHandle& tensor) override;
  HeldTensor read_variable(const std::string& path) override;
  void take_over(const HeldState& state) override;
  TensorHandle hold(const HeldTensor& tensor) override;
  void hold_variable(const std::string& path, const HeldTensor& tensor) override;

 private:
  struct Remote;

  // The first rank's answer.
  wire::Reply ask(const wire::Request& request, DiagSink* diags = nullptr);
  HeldTensor gathered(const wire::Request& request);
  TensorHandle made(TensorType type, std::optional<double> number);

  Workers& workers_;
  std::function<void(std::string_view)> print_;
  std::unordered_map<const Unit*, std::uint64_t> units_;
  std::uint64_t next_ = 0;
  std::shared_ptr<std::vector<std::uint64_t>> released_;  // since the ranks were told
};

}  // namespace mtf
