// What is read from files is got ready while something else is computed.

#include <algorithm>

#include "frontend/driver/devices/execute_device.h"

namespace mtf {

std::optional<std::vector<RankTensor>> ExecuteDevice::run_or_take(
    Compiled& compiled, std::span<const RankTensor* const> inputs,
    std::span<RankTensor* const> updated, DiagSink& diags) {
  const std::int64_t begin = nanoseconds_now();
  std::optional<AheadAnswer> answer =
      compiled.ahead == nullptr ? std::nullopt : compiled.ahead->take(inputs);
  if (!answer) {
    std::optional<std::vector<RankTensor>> outputs =
        executor_->run(*compiled.executable, inputs, updated, diags);
    const std::span<const Counted> counted = executor_->counted();
    counted_.assign(counted.begin(), counted.end());
    return outputs;
  }
  if (options_.timeline != nullptr) {
    options_.timeline->ahead(answer->work, {.begin = begin, .end = nanoseconds_now()});
  }
  counted_ = std::move(answer->counted);
  const bool stands = executor_->confirm(*compiled.executable, inputs, answer->outputs, diags);
  return stands ? std::optional(std::move(answer->outputs)) : std::nullopt;
}

void ExecuteDevice::look_ahead(Compiled& compiled, std::span<const RankTensor* const> inputs,
                               std::span<const TensorHandle> arguments) {
  const bool reads_files = std::ranges::any_of(
      inputs, [](const RankTensor* input) { return input->in_file.has_value(); });
  if (!reads_files || options_.check_finite || !AheadProgram::is_one(compiled.program)) {
    return;
  }
  if (ahead_ == nullptr) {
    ahead_ = std::make_unique<AheadThread>(
        *communicator_, ExecutorOptions{.exact = options_.exact, .seed = options_.seed});
  }
  if (compiled.ahead == nullptr) {
    compiled.ahead = std::make_unique<AheadProgram>(*ahead_, compiled.program);
  }
  compiled.ahead->begin(inputs, {arguments.begin(), arguments.end()});
}

}  // namespace mtf
