#include "frontend/driver/repl/ranks/remote_device.h"

#include <utility>

#include "frontend/driver/devices/restored.h"
#include "runtime/ranks/interruption.h"

namespace mtf {

// Its number is what the ranks know it by.
struct RemoteDevice::Remote final : DeviceTensor {
  Remote(TensorType tensor_type, std::uint64_t tensor_number,
         std::shared_ptr<std::vector<std::uint64_t>> released_tensors)
      : DeviceTensor(std::move(tensor_type)),
        number(tensor_number),
        released(std::move(released_tensors)) {}
  ~Remote() override { released->push_back(number); }
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;
  Remote(Remote&&) = delete;
  Remote& operator=(Remote&&) = delete;

  static std::uint64_t of(const TensorHandle& tensor) {
    return static_cast<const Remote&>(*tensor).number;
  }

  std::uint64_t number;
  std::optional<double> value;  // of a scalar
  std::shared_ptr<std::vector<std::uint64_t>> released;
};

RemoteDevice::RemoteDevice(Workers& workers, const wire::Start& start,
                           std::function<void(std::string_view)> print)
    : workers_(workers),
      print_(std::move(print)),
      released_(std::make_shared<std::vector<std::uint64_t>>()) {
  workers_.post(start);
}

wire::Reply RemoteDevice::ask(const wire::Request& request, DiagSink* diags) {
  if (!released_->empty()) {
    workers_.post(wire::Release{.tensors = std::exchange(*released_, {})});
  }
  std::vector<wire::Reply> replies = workers_.ask(request, print_);
  for (const Diag& diag : diags == nullptr ? std::vector<Diag>() : replies.front().diags) {
    diags->add(diag);
  }
  return std::move(replies.front());
}

bool RemoteDevice::use(const Layout* chosen, std::span<const Layout> /*declared*/,
                       DiagSink& diags) {
  return ask(wire::Use{.layout = *chosen}, &diags).done;
}

void RemoteDevice::declare(Variable variable) {
  workers_.post(wire::Declare{.variable = std::move(variable)});
}

TensorHandle RemoteDevice::made(TensorType type, std::optional<double> number) {
  auto tensor = std::make_shared<Remote>(std::move(type), next_++, released_);
  tensor->value = number;
  return tensor;
}

std::optional<std::vector<TensorHandle>> RemoteDevice::run(const Unit& unit,
                                                           std::span<const TensorHandle> arguments,
                                                           DiagSink& diags) {
  throw_if_interrupted();
  const auto [place, is_new] = units_.try_emplace(&unit, units_.size());
  if (is_new) {
    workers_.post(
        wire::AddUnit{.unit = place->second, .program = unit.program, .is_entry = unit.is_entry});
  }
  wire::Run run{.unit = place->second, .arguments = {}, .first_result = next_};
  for (const TensorHandle& argument : arguments) {
    run.arguments.push_back(Remote::of(argument));
  }
  const wire::Reply reply = ask(run, &diags);
  if (!reply.done) {
    return std::nullopt;
  }
  std::vector<TensorHandle> results;
  for (const wire::Result& result : reply.results) {
    results.push_back(made(result.type, result.number));
  }
  return results;
}

std::optional<double> RemoteDevice::scalar(const TensorHandle& tensor) {
  return static_cast<const Remote&>(*tensor).value;
}

std::optional<HostTensor> RemoteDevice::value(const TensorHandle& tensor) {
  return HostTensor{.type = tensor->type,
                    .data = ask(wire::Tell{.tensor = Remote::of(tensor)}).whole};
}

std::optional<std::string> RemoteDevice::text(const TensorHandle& tensor,
                                              const NumberFormat& numbers) {
  return ask(wire::Print{.tensor = Remote::of(tensor), .numbers = numbers}).text;
}

bool RemoteDevice::save(const SaveRequest& request, DiagSink& diags) {
  throw_if_interrupted();
  return ask(request, &diags).done;
}

std::optional<std::string> RemoteDevice::note_of(const RestoreRequest& request, DiagSink& diags) {
  return note_in(request, request.path, /*may_be_missing=*/false, diags);
}

bool RemoteDevice::restore(const RestoreRequest& request, DiagSink& diags) {
  throw_if_interrupted();
  return ask(request, &diags).done;
}

void RemoteDevice::begin() {
  workers_.post(wire::Plainly::kBegin);
}

void RemoteDevice::undo() {
  if (workers_.are_there()) {
    workers_.post(wire::Plainly::kUndo);
  }
}

bool RemoteDevice::switch_to(const Layout& layout, const HeldLayouts& wanted, DiagSink& diags) {
  return ask(wire::SwitchTo{.layout = layout, .wanted = wanted}, &diags).done;
}

HeldState RemoteDevice::state() {
  return ask(wire::Plainly::kTellState).state;
}

HeldTensor RemoteDevice::gathered(const wire::Request& request) {
  std::vector<wire::Reply> replies = workers_.ask(request, print_);
  HeldTensor all = std::move(replies.front().tensor);
  for (std::size_t rank = 1; rank < replies.size(); ++rank) {
    all.parts.push_back(std::move(replies[rank].tensor.parts.front()));
  }
  return all;
}

HeldTensor RemoteDevice::read(const TensorHandle& tensor) {
  return gathered(wire::Read{.tensor = Remote::of(tensor)});
}

HeldTensor RemoteDevice::read_variable(const std::string& path) {
  return gathered(wire::ReadVariable{.path = path});
}

void RemoteDevice::take_over(const HeldState& state) {
  workers_.post(wire::TakeOver{.state = state});
}

namespace {

HeldTensor slice_of(const HeldTensor& tensor, std::int64_t rank) {
  return {.type = tensor.type,
          .layout = tensor.layout,
          .parts = {tensor.parts[static_cast<std::size_t>(rank)]}};
}

}  // namespace

TensorHandle RemoteDevice::hold(const HeldTensor& tensor) {
  std::optional<double> value;
  if (tensor.type.shape.rank() == 0) {
    value = with_stored(tensor.type.dtype, [&](auto zero) {
      std::memcpy(&zero, tensor.parts.front().data(), sizeof(zero));
      return static_cast<double>(zero);
    });
  }
  for (std::int64_t rank = 0; rank < workers_.ranks(); ++rank) {
    workers_.post_to(rank, wire::Hold{.tensor = next_, .slices = slice_of(tensor, rank)});
  }
  return made(tensor.type, value);
}

void RemoteDevice::hold_variable(const std::string& path, const HeldTensor& tensor) {
  for (std::int64_t rank = 0; rank < workers_.ranks(); ++rank) {
    workers_.post_to(rank, wire::HoldVariable{.path = path, .slices = slice_of(tensor, rank)});
  }
}

}  // namespace mtf
