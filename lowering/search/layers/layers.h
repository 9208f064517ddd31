// Programs with layers left out: what one layer more costs, each further one costs as well, so a
// model of a hundred equal layers is priced by plans of a few.

#pragma once

#include <cstdint>
#include <optional>

#include "ir/program.h"

namespace mtf {

// Two programs that differ by one repetition of everything that is repeated.
struct LayerSamples {
  Program fewer;
  Program more;
  std::int64_t further = 0;  // repetitions that the whole has beyond `more`
};

// nullopt: nothing is repeated often enough to be worth it.
[[nodiscard]] std::optional<LayerSamples> layer_samples(const Program& program);

}  // namespace mtf
