// What the tables of commands say to people and to shells.

#pragma once

#include <string>
#include <string_view>

#include "frontend/driver/command_line/tables.h"

namespace mtf {

// `mtf --help`, `mtf COMMAND --help`, `mtf --version`.
[[nodiscard]] std::string overview_page();
[[nodiscard]] std::string command_page(const CommandDef& command);
[[nodiscard]] std::string version_page();

// In roff, for `man`.
[[nodiscard]] std::string manual_page();

// The script by which a shell completes: "bash", "zsh" or "fish".
[[nodiscard]] std::string completion_script(std::string_view shell);

}  // namespace mtf
