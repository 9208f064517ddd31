// Globs of paths: `*` stands for any text, nothing else is special. A glob names what its path
// begins with as well, up to a `/`: `net/w` also `net/w/adam/m`.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mtf {

// Whether the glob stands for the whole path.
[[nodiscard]] bool matches_whole(std::string_view glob, std::string_view path);
[[nodiscard]] bool matches_path(std::string_view glob, std::string_view path);

// The path with another glob's text in place of this one's, what each `*` stands for and what
// follows kept; nullopt if the glob does not name it. Requires: as many `*` in both.
[[nodiscard]] std::optional<std::string> renamed_path(std::string_view path, std::string_view from,
                                                      std::string_view to);

}  // namespace mtf
