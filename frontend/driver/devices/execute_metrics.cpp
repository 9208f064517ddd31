// What a device says of the programs that run on it, and of the training among them.

#include <algorithm>
#include <stdexcept>

#include "frontend/driver/devices/execute_device.h"
#include "runtime/execute/count.h"

namespace mtf {

void ExecuteDevice::count(const SpmdProgram& program, std::string_view entry) {
  for (const Counted& one : executor_->counted()) {
    const std::string difference = options_.check_plan ? difference_from_plan(program, one) : "";
    if (!difference.empty()) {
      throw std::logic_error("`" + std::string(entry) +
                             "` did not do what its plan says: " + difference);
    }
  }
  for (std::size_t i = 0; options_.count && i < counts_.size(); ++i) {
    count_run(counts_[i], entry, executor_->counted()[i].totals, program.totals);
  }
}

// In a loop the last value of a name counts.
void ExecuteDevice::note_loss(const std::string& name, double value) {
  const std::string known = name.empty() ? "loss" : name;
  const auto found = std::ranges::find(losses_, known, &std::pair<std::string, double>::first);
  if (found == losses_.end()) {
    losses_.emplace_back(known, value);
  } else {
    found->second = value;
  }
}

void ExecuteDevice::count_step(const SpmdProgram& program, double seconds) {
  trains_ = program.source.name;
  std::int64_t& number = steps_[trains_];
  if (first_rank_ && options_.trained) {
    double flops = 0;
    for (const Counted& counted : executor_->counted()) {
      flops += counted.totals.flops;
    }
    options_.trained({.entry = trains_,
                      .number = number,
                      .losses = losses_,
                      .seconds = seconds,
                      .flops = flops,
                      .program = program.source,
                      .before = steps_});
  }
  ++number;
}

void ExecuteDevice::metric(std::string_view name, double value, std::optional<std::int64_t> step) {
  if (first_rank_ && options_.noted) {
    const auto taken = steps_.find(trains_);
    const std::int64_t last = taken == steps_.end() ? 0 : taken->second - 1;
    options_.noted({.entry = trains_,
                    .step = step.value_or(last),
                    .name = name,
                    .value = value,
                    .before = steps_});
  }
}

}  // namespace mtf
