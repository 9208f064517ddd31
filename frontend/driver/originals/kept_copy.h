// A copy of a file that is about to be replaced.

#pragma once

#include <string>
#include <system_error>

namespace mtf {

// Keeps a file under a name that none has yet, FILE~ or FILE~2; "" after an error.
[[nodiscard]] std::string kept_copy(const std::string& path, std::error_code& error);

}  // namespace mtf
