// Measures what this machine does, on the ranks of this run at once: the rates of a hardware
// profile.

#pragma once

#include "ir/hardware.h"
#include "ir/op.h"
#include "runtime/communicator.h"

namespace mtf {

// `world`: the ranks that measure together, all on this machine; null: this process alone. Each
// number is that of the slowest rank. Collective; some seconds.
[[nodiscard]] Hardware measure(OpTable ops, Communicator* world);

}  // namespace mtf
