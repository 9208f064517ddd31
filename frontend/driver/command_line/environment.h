// What the environment asks of mtf.

#pragma once

#include <string>

namespace mtf {

// "" or what is wrong with a variable that mtf reads.
[[nodiscard]] std::string misuse_of_environment();

}  // namespace mtf
