// What other languages and libraries call what has a name here.

#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mtf::host {

// "f32", of float32. Empty: nothing is known by that name.
[[nodiscard]] std::string_view here_called(std::string_view name);

// Which of a module's names it is that others call so: "dense", of Linear or linear; "adam", of
// Adam. Empty: none.
[[nodiscard]] std::string_view member_called(std::string_view name,
                                             std::span<const std::string> members);

}  // namespace mtf::host
