// What is read from files is got ready while something else is computed.

#include <algorithm>
#include <utility>

#include "frontend/driver/devices/execute_device.h"

namespace mtf {

ReadAhead* ExecuteDevice::read_ahead(Compiled& compiled, std::span<const RankTensor* const> inputs,
                                     std::span<const TensorHandle> arguments) {
  const bool reads_files = std::ranges::any_of(
      inputs, [](const RankTensor* input) { return input->in_file.has_value(); });
  if (!reads_files || options_.check_finite) {
    return nullptr;
  }
  std::vector<AheadPart> parts;
  if (!std::exchange(compiled.reads_files, true)) {
    parts = ahead_parts(compiled.program, inputs);
  }
  if (!parts.empty()) {
    if (ahead_ == nullptr) {
      ahead_ = std::make_unique<AheadThread>(
          *communicator_, ExecutorOptions{.exact = options_.exact, .seed = options_.seed});
    }
    compiled.ahead = std::make_unique<ReadAhead>(*ahead_, compiled.program, std::move(parts),
                                                 [this](TimeSpan work, TimeSpan waited) {
                                                   if (options_.timeline != nullptr) {
                                                     options_.timeline->ahead(work, waited);
                                                   }
                                                 });
  }
  if (compiled.ahead != nullptr) {
    compiled.ahead->begin_run(inputs, {arguments.begin(), arguments.end()});
  }
  return compiled.ahead.get();
}

}  // namespace mtf
