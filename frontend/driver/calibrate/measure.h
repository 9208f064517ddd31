// Measures what this machine does, on the ranks of this run at once: the rates of a hardware
// profile.

#pragma once

#include <string>
#include <vector>

#include "ir/layout/hardware.h"
#include "ir/op.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

struct Measured {
  Hardware hardware;
  std::vector<std::string> doubtful;  // figures that no two measurements agree on, or implausible
};

// `world`: the ranks that measure together, all on this machine; null: this process alone. Each
// number is that of the slowest rank. Collective; some seconds.
[[nodiscard]] Measured measure(OpTable ops, Communicator* world);

}  // namespace mtf
