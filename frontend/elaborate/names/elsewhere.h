// What names of Python, NumPy, PyTorch and JAX are here.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "frontend/elaborate/report.h"

namespace mtf::host {

// Of words with spaces between them.
[[nodiscard]] bool is_among(std::string_view words, std::string_view word);
// The name here of what has another one elsewhere; "": none.
[[nodiscard]] std::string_view name_here(std::string_view elsewhere);
// "; …": what to write in place of what has no name here; "": nothing is known.
[[nodiscard]] std::string habit_text(std::string_view elsewhere);
// Which of a module's names it is that others call so: "dense", of Linear or linear; "adam", of
// Adam. Empty: none.
[[nodiscard]] std::string_view member_called(std::string_view name,
                                             std::span<const std::string> members);
// By what is called so elsewhere, or else by the spelling.
[[nodiscard]] Suggestion suggest_known(std::string_view name,
                                       std::span<const std::string> candidates);

}  // namespace mtf::host
