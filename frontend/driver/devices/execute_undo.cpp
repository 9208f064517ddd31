// What a session does before a statement, and after one that failed: variables are copied before
// they are updated, and put back.

#include <cstring>

#include "frontend/driver/devices/execute_device.h"

namespace mtf {

void ExecuteDevice::begin() {
  undo_ = Undo{.declared = declared_,
               .held = held_,
               .old = {},
               .stream = executor_->stream(),
               .steps = steps_,
               .restored = restored_};
}

void ExecuteDevice::keep(const SpmdProgram& program) {
  for (const SpmdUpdate& update : program.updates) {
    keep_old(program.source.inputs[update.input].name);
  }
}

void ExecuteDevice::keep_old(const std::string& path) {
  if (!undo_ || !undo_->held.contains(path) || undo_->old.contains(path)) {
    return;
  }
  undo_->old.emplace(path, copy_of(variables_.at(path)));
}

RankTensor ExecuteDevice::copy_of(const RankTensor& tensor) {
  RankTensor copy =
      make_tensor(executor_->pool(), *communicator_, layout_.mesh, tensor.type, tensor.layout);
  for (std::size_t i = 0; i < copy.parts.size(); ++i) {
    std::memcpy(copy.parts[i].data(), tensor.parts[i].data(),
                static_cast<std::size_t>(copy.parts[i].bytes()));
  }
  return copy;
}

void ExecuteDevice::undo() {
  std::optional<Undo> undo = std::exchange(undo_, std::nullopt);
  room_ = 0;
  declared_ = std::move(undo->declared);
  held_ = std::move(undo->held);
  std::erase_if(variables_, [this](const auto& entry) { return !held_.contains(entry.first); });
  for (auto& [path, value] : undo->old) {
    variables_.insert_or_assign(path, std::move(value));
  }
  executor_->set_stream(undo->stream);
  steps_ = std::move(undo->steps);
  restored_ = std::move(undo->restored);
}

bool ExecuteDevice::switch_to(const Layout& layout, const HeldLayouts& wanted, DiagSink& diags) {
  std::map<std::string, RankTensor> there;
  for (const auto& [path, tensor] : variables_) {
    const auto target = wanted.find(path);
    if (target != wanted.end() && !(target->second == tensor.layout)) {
      std::optional<RankTensor> value = moved(tensor, target->second, diags);
      if (!value) {
        return false;
      }
      there.emplace(path, *std::move(value));
    }
  }
  for (auto& [path, tensor] : there) {
    held_.insert_or_assign(path, tensor.layout);
    variables_.insert_or_assign(path, std::move(tensor));
  }
  room_ = 0;
  undo_.reset();
  forget_compiled();
  layout_ = layout;
  return true;
}

}  // namespace mtf
