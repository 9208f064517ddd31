// Files that are written whole or not at all: beside their place, then renamed, so that whatever
// ends the program leaves what was there.

#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace mtf {

using WriteText = std::function<void(std::ostream&)>;

// Where a file is written until it is whole.
[[nodiscard]] std::string beside(const std::string& place);
// "" or why it failed.
[[nodiscard]] std::string write_file(const std::string& path, const WriteText& write);
[[nodiscard]] std::string replace_file(const std::string& place, const WriteText& write);

}  // namespace mtf
