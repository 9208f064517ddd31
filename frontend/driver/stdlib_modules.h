// The modules of stdlib/*.mtf, carried inside the binary so that `import optim` needs no files.
// The definitions are written at build time by stdlib/embed.cmake.

#pragma once

#include <span>
#include <string_view>

namespace mtf {

[[nodiscard]] std::span<const std::string_view> stdlib_module_names();

[[nodiscard]] std::string_view stdlib_module(std::string_view name);  // its text; empty if absent

[[nodiscard]] std::string_view language_reference();  // grammar/LANGUAGE.md

}  // namespace mtf
