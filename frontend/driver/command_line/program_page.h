// A program's options, from its text alone: what `mtf FILE --help` shows.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mtf {

// nullopt: there is no such program, or it has mistakes.
[[nodiscard]] std::optional<std::string> program_page(const std::string& path);
// Whether it is a program with an option of the name.
[[nodiscard]] bool has_option(const std::string& path, std::string_view name);

}  // namespace mtf
