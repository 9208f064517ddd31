// The clocks of ranks, set against that of the first one.
//
// Measured with messages to and fro, before and after what is timed; in between a clock is taken to
// drift evenly. Clocks that are closer than the messages can tell (those of one machine) stay.

#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ranks/communicator.h"

namespace mtf {

struct ClockReading {
  std::int64_t at = 0;     // on the rank's own clock, in nanoseconds
  std::int64_t ahead = 0;  // of the first rank's clock
};

// One per rank; on other processes than that of rank 0 they are all 0. Collective.
[[nodiscard]] std::vector<ClockReading> read_clocks(Communicator& communicator);

// What the first rank's clock shows when that of a rank shows `own`.
[[nodiscard]] std::int64_t on_first_clock(const ClockReading& before, const ClockReading& after,
                                          std::int64_t own);

struct PingPong {
  std::int64_t sent = 0;      // on the first rank's clock
  std::int64_t received = 0;  // on the other's
  std::int64_t answered = 0;
  std::int64_t returned = 0;
};

// Of the exchange that was quickest.
[[nodiscard]] ClockReading reading_of(const std::vector<PingPong>& exchanges);

}  // namespace mtf
