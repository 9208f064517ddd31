#include "frontend/driver/repl/ranks/session_device.h"

#include <algorithm>
#include <utility>

#include "frontend/driver/repl/ranks/remote_device.h"

namespace mtf {

// What the session knows a tensor by, wherever it is.
struct SessionDevice::Shared final : DeviceTensor {
  explicit Shared(TensorHandle held) : DeviceTensor(held->type), there(std::move(held)) {}

  static const TensorHandle& of(const TensorHandle& tensor) {
    return static_cast<const Shared&>(*tensor).there;
  }

  mutable TensorHandle there;  // of the device that holds it now
};

SessionDevice::SessionDevice(ExecuteOptions options, Workers* workers)
    : options_(std::move(options)), workers_(workers), held_(made(nullptr)) {}

std::unique_ptr<HoldingDevice> SessionDevice::made(Workers* workers) const {
  if (workers == nullptr) {
    return std::make_unique<ExecuteDevice>(options_, nullptr);
  }
  return std::make_unique<RemoteDevice>(*workers,
                                        wire::Start{.exact = options_.exact,
                                                    .nan_is_error = options_.nan_is_error,
                                                    .seed = options_.seed,
                                                    .max_memory = options_.max_memory},
                                        options_.print);
}

bool SessionDevice::use(const Layout* chosen, std::span<const Layout> declared, DiagSink& diags) {
  const std::int64_t ranks = chosen == nullptr ? 1 : chosen->mesh.ranks();
  if (workers_ != nullptr && ranks > 1 && ranks != workers_->ranks()) {
    diags.error(DiagKind::kMeshSize, chosen->mesh.span,
                "`" + to_string(chosen->mesh) + "` has " + std::to_string(ranks) +
                    " ranks, and this session runs on " + std::to_string(workers_->ranks()) +
                    "; `:ranks " + std::to_string(ranks) + "` or `:ranks off` would do");
    return false;
  }
  if (workers_ != nullptr && ranks > 1) {
    held_ = made(workers_);
  }
  layout_ = chosen == nullptr ? std::nullopt : std::optional(*chosen);
  is_in_use_ = held_->use(chosen, declared, diags);
  return is_in_use_;
}

void SessionDevice::declare(Variable variable) {
  held_->declare(std::move(variable));
}

TensorHandle SessionDevice::shared(TensorHandle tensor) {
  auto result = std::make_shared<Shared>(std::move(tensor));
  live_.emplace_back(result);
  return result;
}

void SessionDevice::forget_dead() {
  if (live_.size() > 2 * checked_ + 16) {
    std::erase_if(live_, [](const auto& tensor) { return tensor.expired(); });
    checked_ = live_.size();
  }
}

std::optional<std::vector<TensorHandle>> SessionDevice::run(const Unit& unit,
                                                            std::span<const TensorHandle> arguments,
                                                            DiagSink& diags) {
  std::vector<TensorHandle> there;
  for (const TensorHandle& argument : arguments) {
    there.push_back(Shared::of(argument));
  }
  std::optional<std::vector<TensorHandle>> results = held_->run(unit, there, diags);
  if (results) {
    forget_dead();
    std::ranges::transform(*results, results->begin(),
                           [this](TensorHandle& result) { return shared(std::move(result)); });
  }
  return results;
}

std::optional<double> SessionDevice::scalar(const TensorHandle& tensor) {
  return held_->scalar(Shared::of(tensor));
}

std::optional<HostTensor> SessionDevice::value(const TensorHandle& tensor) {
  return held_->value(Shared::of(tensor));
}

std::optional<std::string> SessionDevice::text(const TensorHandle& tensor,
                                               const NumberFormat& numbers) {
  return held_->text(Shared::of(tensor), numbers);
}

bool SessionDevice::switch_to(const Layout& layout, const HeldLayouts& wanted, DiagSink& diags) {
  if (!held_->switch_to(layout, wanted, diags)) {
    return false;
  }
  layout_ = layout;
  return true;
}

std::int64_t SessionDevice::move_to(Workers* workers) {
  const bool takes_part = is_in_use_ && layout_ && layout_->mesh.ranks() > 1;
  if (!takes_part) {
    workers_ = workers;
    return 0;
  }
  std::unique_ptr<HoldingDevice> next = made(workers);
  DiagSink known;  // the layout is in use already
  static_cast<void>(next->use(&*layout_, {}, known));
  const HeldState state = held_->state();
  next->take_over(state);
  std::int64_t moved = 0;
  const auto count = [&moved](HeldTensor tensor) {
    for (const std::vector<std::byte>& part : tensor.parts) {
      moved += static_cast<std::int64_t>(part.size());
    }
    return tensor;
  };
  for (const std::string& path : state.variables) {
    next->hold_variable(path, count(held_->read_variable(path)));
  }
  std::vector<std::pair<std::shared_ptr<const Shared>, TensorHandle>> there;
  for (const std::weak_ptr<const Shared>& live : live_) {
    if (std::shared_ptr<const Shared> tensor = live.lock()) {
      TensorHandle handle = next->hold(count(held_->read(tensor->there)));
      there.emplace_back(std::move(tensor), std::move(handle));
    }
  }
  static_cast<void>(next->state());  // the ranks have it all, or this throws
  for (auto& [tensor, handle] : there) {
    tensor->there = std::move(handle);
  }
  held_ = std::move(next);
  workers_ = workers;
  return moved;
}

}  // namespace mtf
