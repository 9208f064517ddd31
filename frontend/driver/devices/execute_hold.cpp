// What a device holds, as slices that another one can have.

#include <cstring>

#include "frontend/driver/devices/execute_device.h"

namespace mtf {
namespace {

HeldTensor copied(const RankTensor& tensor) {
  HeldTensor result{.type = tensor.type, .layout = tensor.layout, .parts = {}};
  for (const Buffer& part : tensor.parts) {
    result.parts.emplace_back(part.data(), part.data() + part.bytes());
  }
  return result;
}

RankTensor made(Executor& executor, const Mesh& mesh, const HeldTensor& tensor) {
  RankTensor result =
      make_tensor(executor.pool(), executor.communicator(), mesh, tensor.type, tensor.layout);
  for (std::size_t i = 0; i < result.parts.size(); ++i) {
    std::memcpy(result.parts[i].data(), tensor.parts[i].data(), tensor.parts[i].size());
  }
  return result;
}

}  // namespace

HeldState ExecuteDevice::state() {
  HeldState state{.declared = declared_,
                  .known = {},
                  .variables = {},
                  .stream = executor_->stream(),
                  .restored = {}};
  for (const auto& [path, variable] : known_) {
    state.known.push_back(variable);
  }
  for (const Restored& restored : restored_) {
    state.restored.push_back(restored.request);
  }
  for (const auto& [path, tensor] : variables_) {
    state.variables.push_back(path);
  }
  return state;
}

HeldTensor ExecuteDevice::read(const TensorHandle& tensor) {
  return copied(static_cast<const Held&>(*tensor).tensor);
}

HeldTensor ExecuteDevice::read_variable(const std::string& path) {
  return copied(variables_.at(path));
}

void ExecuteDevice::take_over(const HeldState& state) {
  declared_ = state.declared;
  for (const Variable& variable : state.known) {
    known_.insert_or_assign(variable.path, variable);
  }
  executor_->set_stream(state.stream);
  for (const RestoreRequest& request : state.restored) {
    DiagSink diags;
    if (std::optional<Restored> restored = opened(request, diags)) {
      restored_.push_back(*std::move(restored));
    } else {
      throw Failure{diags.diags().front()};
    }
  }
}

TensorHandle ExecuteDevice::hold(const HeldTensor& tensor) {
  return std::make_shared<Held>(made(*executor_, layout_.mesh, tensor), in_handles_);
}

void ExecuteDevice::hold_variable(const std::string& path, const HeldTensor& tensor) {
  room_ = 0;
  held_.insert_or_assign(path, tensor.layout);
  variables_.insert_or_assign(path, made(*executor_, layout_.mesh, tensor));
}

}  // namespace mtf
