// What a crashed process left on standard error, in a line that is the same for one cause.

#pragma once

#include <string>

namespace fuzz {

[[nodiscard]] std::string blame(const std::string& errors);

}  // namespace fuzz
