// A device whose statements can be taken back, and whose tensors another one can go on with.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/device.h"
#include "lowering/layout/targets.h"
#include "runtime/execute/executor.h"

namespace mtf {

// A tensor with the slices of some ranks: of all of them, or of one.
struct HeldTensor {
  TensorType type;
  ValueLayout layout;
  std::vector<std::vector<std::byte>> parts;
};

// What a device has besides tensors.
struct HeldState {
  std::vector<Variable> declared;  // not initialised yet
  std::vector<Variable> known;     // ever declared, with these
  std::vector<std::string> variables;
  RandomStream stream;
  std::vector<RestoreRequest> restored;
};

class HoldingDevice : public Device {
 public:
  // From here on, `undo` makes variables what they are now. requires: a layout is in use.
  virtual void begin() = 0;
  virtual void undo() = 0;
  // Another layout on the same mesh from here on: variables move to where they are wanted, other
  // tensors when they are read. False: an error, and nothing has changed.
  virtual bool switch_to(const Layout& layout, const HeldLayouts& wanted, DiagSink& diags) = 0;

  // What another device needs to go on, under the same layout.
  [[nodiscard]] virtual HeldState state() = 0;
  [[nodiscard]] virtual HeldTensor read(const TensorHandle& tensor) = 0;
  [[nodiscard]] virtual HeldTensor read_variable(const std::string& path) = 0;
  // And how it does. requires: a layout is in use.
  virtual void take_over(const HeldState& state) = 0;
  virtual TensorHandle hold(const HeldTensor& tensor) = 0;
  virtual void hold_variable(const std::string& path, const HeldTensor& tensor) = 0;
};

}  // namespace mtf
