// Where the rates of this machine are kept: a module of one value, in the user's configuration.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mtf {

// $XDG_CONFIG_HOME/mtf/this_machine.mtf, or in ~/.config; empty where neither is set.
[[nodiscard]] std::string measured_profile_path();
// Its text, if `mtf calibrate` wrote one.
[[nodiscard]] std::optional<std::string> measured_profile();

// "Intel(R) Xeon(R) Processor, 2 cores": what a profile is of.
[[nodiscard]] std::string this_machine();
// What the text of a profile says of that; older ones say nothing.
[[nodiscard]] std::optional<std::string> measured_machine(std::string_view profile);
inline constexpr std::string_view kMachineComment = "# Of: ";

}  // namespace mtf
