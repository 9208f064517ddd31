#include "frontend/elaborate/tensors/execution.h"

#include <memory>
#include <utility>

namespace mtf::host {

Execution::Execution(Device& device, bool is_check, Reporter& report)
    : device_(device), is_check_(is_check), report_(report) {}

bool Execution::use(const Layout* chosen, std::span<const Layout> declared) {
  if (is_dry()) {
    return true;
  }
  DiagSink diags;
  const bool usable = device_.use(chosen, declared, diags);
  report_.forward(diags, false);
  return usable;
}

void Execution::declare(mtf::Variable variable) {
  if (!is_dry()) {
    device_.declare(std::move(variable));
  }
}

std::optional<std::vector<TensorHandle>> Execution::run(const Unit& unit,
                                                        std::span<const TensorHandle> arguments) {
  if (is_dry()) {
    std::vector<TensorHandle> handles;
    for (const ValueId output : unit.program.outputs) {
      handles.push_back(std::make_shared<const DeviceTensor>(unit.program.at(output).type));
    }
    return handles;
  }
  DiagSink diags;
  std::optional<std::vector<TensorHandle>> handles = device_.run(unit, arguments, diags);
  report_.forward(diags, true);
  if (!handles) {
    report_.fail();
  }
  return handles;
}

void Execution::print(std::string_view line) {
  if (!is_dry()) {
    device_.print(line);
  }
}

void Execution::metric(std::string_view name, double value, std::optional<std::int64_t> step) {
  if (!checks_only()) {
    device_.metric(name, value, step);
  }
}

bool Execution::save(const SaveRequest& request) {
  if (is_dry()) {
    return true;
  }
  if (is_check_ && !request.path.empty()) {
    written.insert_or_assign(request.path, DType::kF32);
  }
  DiagSink diags;
  const bool is_saved = device_.save(request, diags);
  report_.forward(diags, false);
  return is_saved;
}

bool Execution::restore(RestoreRequest request) {
  if (is_dry()) {
    return true;
  }
  request.is_of_this_run = written.contains(request.path);
  DiagSink diags;
  const bool is_restored = device_.restore(request, diags);
  report_.forward(diags, false);
  return is_restored;
}

std::string Execution::of_first_rank(std::string mine) {
  return is_dry() ? mine : device_.of_first_rank(std::move(mine));
}

std::optional<std::string> Execution::note_of(const RestoreRequest& request) {
  if (is_dry() || written.contains(request.path)) {
    return std::nullopt;
  }
  DiagSink diags;
  std::optional<std::string> note = device_.note_of(request, diags);
  report_.forward(diags, false);
  return note;
}

bool Execution::expect_save(bool expected) {
  device_.expect_save(expected);
  return std::exchange(expects_save_, expected);
}

void Execution::end() {
  if (!is_dry()) {
    DiagSink diags;
    device_.end(report_.failures() > 0, diags);
    report_.forward(diags, false);
  }
}

std::optional<double> Execution::scalar(const TensorHandle& tensor) {
  return is_dry() ? std::nullopt : device_.scalar(tensor);
}

std::optional<HostTensor> Execution::value(const TensorHandle& tensor) {
  return is_dry() ? std::nullopt : device_.value(tensor);
}

std::optional<std::string> Execution::text(const TensorHandle& tensor,
                                           const NumberFormat& numbers) {
  return is_dry() ? std::nullopt : device_.text(tensor, numbers);
}

}  // namespace mtf::host
