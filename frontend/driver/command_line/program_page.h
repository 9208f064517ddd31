// What `mtf FILE --help` shows: a program's options, from its text alone.

#pragma once

#include <optional>
#include <string>

namespace mtf {

// nullopt: there is no such program, or it has mistakes.
[[nodiscard]] std::optional<std::string> program_page(const std::string& path);

}  // namespace mtf
