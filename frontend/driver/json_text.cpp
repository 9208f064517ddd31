#include "frontend/driver/json_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace mtf {
namespace {

// How many bytes the code point at the front has; 0 if there is none.
std::size_t code_point_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = first < 0x80   ? 1
                            : first < 0xC2 ? 0
                            : first < 0xE0 ? 2
                            : first < 0xF0 ? 3
                            : first < 0xF5 ? 4
                                           : 0;
  if (bytes == 0 || bytes > text.size()) {
    return 0;
  }
  const bool continued = std::ranges::all_of(text.substr(1, bytes - 1), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
  });
  const auto second = static_cast<unsigned char>(bytes > 1 ? text[1] : 0);
  const bool outside = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                       (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return continued && !outside ? bytes : 0;
}

std::string escaped(char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto code = static_cast<unsigned char>(c);
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    default:
      return code < 0x20 || code == 0x7F
                 ? std::string("\\u00") + kHex[code >> 4U] + kHex[code & 15U]
                 : std::string(1, c);
  }
}

}  // namespace

JsonText& JsonText::open(char bracket, char closing) {
  separate();
  text_ += bracket;
  closing_.push_back(closing);
  first_ = true;
  return *this;
}

JsonText& JsonText::close() {
  text_ += line_ ? "\n" : "";
  line_ = false;
  text_ += closing_.back();
  closing_.pop_back();
  first_ = false;
  return *this;
}

JsonText& JsonText::key(std::string_view name) {
  separate();
  text_ += json_quoted(name) + ":";
  first_ = true;
  return *this;
}

JsonText& JsonText::value(std::string_view text) {
  return raw(json_quoted(text));
}

JsonText& JsonText::value(double number) {
  if (!std::isfinite(number)) {
    return null();
  }
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  return raw({buffer.data(), static_cast<std::size_t>(end - buffer.data())});
}

JsonText& JsonText::raw(std::string_view json) {
  separate();
  text_ += json;
  first_ = false;
  return *this;
}

JsonText& JsonText::line() {
  line_ = true;
  return *this;
}

std::string JsonText::take() {
  return std::exchange(text_, {});
}

void JsonText::separate() {
  text_ += first_ ? "" : ",";
  text_ += line_ ? "\n" : "";
  line_ = false;
}

std::string json_quoted(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const std::size_t bytes = code_point_bytes(text);
    if (bytes == 1) {
      quoted += escaped(text.front());
    } else {
      quoted += bytes == 0 ? std::string_view("\uFFFD") : text.substr(0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return quoted + "\"";
}

}  // namespace mtf
