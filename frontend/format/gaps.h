// What stands between two words or signs: comments, ends of lines, blank lines.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mtf::layouting {

struct Comment {
  std::string text;     // from its `#`, without blanks at its end
  bool behind = false;  // on the line of what stands before it
  bool apart = false;   // a blank line is before it
};

struct Gap {
  std::vector<Comment> comments;
  bool apart = false;     // a blank line is at its end
  bool has_line = false;  // a line ends in it
};

// requires: [begin, end) has nothing but comments, blanks, `,` and `;`.
[[nodiscard]] Gap gap_of(std::string_view source, std::uint32_t begin, std::uint32_t end);

// Where the next word or sign begins: behind blanks and comments. The end of the text: there is
// none.
[[nodiscard]] std::uint32_t next_word(std::string_view source, std::uint32_t begin);

}  // namespace mtf::layouting
