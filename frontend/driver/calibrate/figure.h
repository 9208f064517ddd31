// A figure that is measured while others may use the machine: again until two measurements agree.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/layout/hardware.h"

namespace mtf {

struct Figure {
  double value = 0;         // the least: whatever disturbs makes it larger
  bool is_trusted = false;  // the two least agree
};

// Takes at least two measurements, and more as long as the two least differ; `most` at most.
[[nodiscard]] Figure agreed_figure(const std::function<double()>& measure, int most);

// What is left of a time, however badly the part that is taken off was measured.
[[nodiscard]] double without(double part, double seconds);

// "all_reduce of 4".
[[nodiscard]] std::string name_of(const MeasuredCollective& row);

// Names of collectives whose time for few bytes is far from that of the others among as many ranks,
// or falls where more bytes are received.
[[nodiscard]] std::vector<std::string> implausible_collectives(const Hardware& hardware);

}  // namespace mtf
