// What a rank's machine can do, in published or measured rates: data for the prices of a plan.
//
// A profile is a value of the language, made by `hardware_profile(…)`: stdlib/hardware.mtf has the
// published ones with their sources, `mtf calibrate` writes that of this machine.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/support/source.h"

namespace mtf {

// A rate or a time that depends on a size: points by rising size, at least one, joined by straight
// lines over the logarithm of the size.
using Curve = std::vector<std::pair<double, double>>;

[[nodiscard]] double value_at(const Curve& curve, double size);  // beyond the ends, that of the end

// Between ranks: seconds before the first byte of a message, and bytes per second that a rank
// receives while it sends as many.
struct Link {
  double latency = 0;
  double bandwidth = 0;
};

// The seconds of one kind of collective among so many ranks, by the bytes that a rank receives.
struct MeasuredCollective {
  std::string kind;  // "all_reduce"
  std::int64_t ranks = 2;
  Curve seconds;
};

struct Hardware {
  std::string name;
  SourceSpan span;
  double flops = 0;     // of a rank, per second, at its best: what a utilization is a share of
  Curve products;       // flops per second by the side of a cube; empty: `flops`
  double tile = 1;      // products work in tiles of this side: a shorter dim takes a whole one
  Curve memory;         // bytes per second by the bytes that a kernel touches
  double capacity = 0;  // bytes a rank may hold; 0: not said
  double overhead = 0;  // seconds that any kernel takes
  double overlap = 0;   // how much of a streamed gather goes on behind the product, up to 1
  Link link;            // between machines, of one rank: its share of what the machine has
  Link near;            // between ranks of one machine, as many as `near_ranks`
  std::int64_t near_ranks = 1;
  // Operation, or one of the ways that it is done; seconds of a point of its loops.
  std::vector<std::pair<std::string, double>> elements;
  std::vector<MeasuredCollective> collectives;  // go before the links
  std::int64_t ranks = 0;  // measured with so many at once on the machine; 0: for any number

  [[nodiscard]] double seconds_of_element(std::string_view op) const;  // 0: not said
};

// A name and what it stands for: profiles for several numbers of ranks, or one for any.
struct HardwareChoice {
  std::vector<Hardware> profiles;  // by rising `ranks`

  // The one for a mesh of so many ranks: measured with as many or fewer. requires: not empty
  [[nodiscard]] const Hardware& for_ranks(std::int64_t ranks) const;
};

}  // namespace mtf
