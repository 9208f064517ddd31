// What the process that starts the ranks finds out before there are any: what is wrong is said at
// once, by one of them, and the machine is left alone.

#pragma once

#include <optional>
#include <string>

#include "frontend/driver/options.h"

namespace mtf {

// The exit status of a run that is not to begin, of which all is said; nullopt: it may begin, as
// far as a second tells. `input`: the program, where that is `-`.
[[nodiscard]] std::optional<int> end_before_ranks(const Options& options,
                                                  const std::optional<std::string>& input);

}  // namespace mtf
