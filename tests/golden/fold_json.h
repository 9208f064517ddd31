// Json as a person can review it: what is longer than a line is broken where its members end.

#pragma once

#include <string>

namespace mtf::golden {

// The lines of `text` that are objects too long to read are folded; their characters stay as they
// are, but for spaces and line ends.
[[nodiscard]] std::string with_json_folded(const std::string& text);

}  // namespace mtf::golden
