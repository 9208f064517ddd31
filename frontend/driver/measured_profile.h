// Where the rates of this machine are kept: a module of one value, in the user's configuration.

#pragma once

#include <optional>
#include <string>

namespace mtf {

// $XDG_CONFIG_HOME/mtf/this_machine.mtf, or in ~/.config; empty where neither is set.
[[nodiscard]] std::string measured_profile_path();
// Its text, if `mtf calibrate` wrote one.
[[nodiscard]] std::optional<std::string> measured_profile();

}  // namespace mtf
