// A file's new text, at once or not at all.

#pragma once

#include <string>
#include <string_view>

namespace mtf {

// Writes beside the file and renames, with its permissions; of a link, the file that it names.
// Empty, or why it could not be.
[[nodiscard]] std::string replace_file(const std::string& path, std::string_view text);

}  // namespace mtf
