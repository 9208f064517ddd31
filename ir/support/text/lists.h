// Lists in texts: taken apart, and written for people.

#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mtf {

// What stands before each `end`, and behind the last; a text that ends in one has nothing behind
// it.
[[nodiscard]] inline std::vector<std::string_view> pieces_of(std::string_view text, char end) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(end), text.size());
    pieces.push_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return pieces;
}

// "a", "a or b", "a, b or c"
[[nodiscard]] inline std::string alternatives(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_last = i + 1 == names.size();
    text += (i == 0 ? "" : is_last ? " or " : ", ") + names[i];
  }
  return text;
}

}  // namespace mtf
