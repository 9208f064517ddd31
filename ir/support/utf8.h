// Text as code points, and the columns of a terminal that it fills (utf8proc).

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mtf {

struct CodePoint {
  char32_t value = 0;
  std::uint32_t length = 0;  // in bytes; 0: they are no UTF-8
};

[[nodiscard]] std::string to_utf8(char32_t code);                 // requires: below 0x110000
[[nodiscard]] CodePoint first_code_point(std::string_view text);  // the first; requires: not empty
// Whether a byte is the first one of a code point.
[[nodiscard]] bool begins_code_point(char byte);
[[nodiscard]] std::size_t code_points(std::string_view text);

[[nodiscard]] std::size_t display_width(char32_t code);
[[nodiscard]] std::size_t display_width(std::string_view text);
// The text, or as much of it as fits before a "…".
[[nodiscard]] std::string shortened(std::string_view text, std::size_t widest);

}  // namespace mtf
