#include "ir/support/utf8.h"

#include <algorithm>
#include <array>
#include <utf8proc.h>

namespace mtf {

std::string to_utf8(char32_t code) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const utf8proc_ssize_t length =
      utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes.data());
  return {bytes.begin(), bytes.begin() + length};
}

CodePoint first_code_point(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) {
    return {.value = first, .length = 1};
  }
  utf8proc_int32_t code = 0;
  const utf8proc_ssize_t length =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(text.size()), &code);
  return length <= 0 ? CodePoint{}
                     : CodePoint{.value = static_cast<char32_t>(code),
                                 .length = static_cast<std::uint32_t>(length)};
}

bool begins_code_point(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_code_point));
}

std::size_t display_width(char32_t code) {
  return static_cast<std::size_t>(
      std::max(0, utf8proc_charwidth(static_cast<utf8proc_int32_t>(code))));
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint code = first_code_point(text);
    width += code.length == 0 ? 1 : display_width(code.value);
    text.remove_prefix(std::max<std::size_t>(code.length, 1));
  }
  return width;
}

std::string shortened(std::string_view text, std::size_t widest) {
  if (display_width(text) <= widest) {
    return std::string(text);
  }
  std::size_t width = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    const CodePoint code = first_code_point(text.substr(end));
    width += code.length == 0 ? 1 : display_width(code.value);
    if (width + 1 > widest) {
      break;
    }
    end += std::max<std::size_t>(code.length, 1);
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace mtf
