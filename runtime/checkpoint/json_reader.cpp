#include "runtime/checkpoint/json_reader.h"

#include <array>
#include <charconv>

#include "ir/support/text/parse_number.h"

namespace mtf {
namespace {

void append_utf8(std::uint32_t code, std::string& out) {
  const auto byte = [&](std::uint32_t bits) { out += static_cast<char>(bits); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | (code >> 6U));
    byte(0x80 | (code & 0x3FU));
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12U));
    byte(0x80 | ((code >> 6U) & 0x3FU));
    byte(0x80 | (code & 0x3FU));
  } else {
    byte(0xF0 | (code >> 18U));
    byte(0x80 | ((code >> 12U) & 0x3FU));
    byte(0x80 | ((code >> 6U) & 0x3FU));
    byte(0x80 | (code & 0x3FU));
  }
}

}  // namespace

void JsonReader::skip_space() {
  const std::size_t begin = text_.find_first_not_of(" \t\r\n");
  text_.remove_prefix(begin == std::string_view::npos ? text_.size() : begin);
}

bool JsonReader::take(char sign) {
  skip_space();
  if (text_.empty() || text_.front() != sign) {
    return false;
  }
  text_.remove_prefix(1);
  return true;
}

bool JsonReader::at_end() {
  skip_space();
  return text_.empty();
}

std::optional<std::uint32_t> JsonReader::hex4() {
  const std::optional<std::uint32_t> code =
      text_.size() < 4 ? std::nullopt : parse_number<std::uint32_t>(text_.substr(0, 4), 16);
  if (!code) {
    return std::nullopt;
  }
  text_.remove_prefix(4);
  return code;
}

// What follows a backslash.
bool JsonReader::append_escaped(std::string& out) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  if (text_.empty()) {
    return false;
  }
  const char letter = text_.front();
  text_.remove_prefix(1);
  const std::size_t known = kLetters.find(letter);
  if (known != std::string_view::npos) {
    out += kMeant[known];
    return true;
  }
  std::optional<std::uint32_t> code = letter == 'u' ? hex4() : std::nullopt;
  const bool is_first_half = code && *code >= 0xD800 && *code < 0xDC00;
  if (is_first_half && text_.starts_with("\\u")) {
    text_.remove_prefix(2);
    const std::optional<std::uint32_t> low = hex4();
    code = low && *low >= 0xDC00 && *low < 0xE000
               ? std::optional(0x10000U + ((*code - 0xD800U) << 10U) + (*low - 0xDC00U))
               : std::nullopt;
  }
  if (!code || (*code >= 0xD800 && *code < 0xE000)) {
    return false;
  }
  append_utf8(*code, out);
  return true;
}

std::optional<std::string> JsonReader::string() {
  if (!take('"')) {
    return std::nullopt;
  }
  std::string result;
  while (!text_.empty()) {
    const std::size_t plain = std::min(text_.find_first_of("\"\\"), text_.size());
    result += text_.substr(0, plain);
    text_.remove_prefix(plain);
    if (take('"')) {
      return result;
    }
    if (text_.empty()) {
      break;
    }
    text_.remove_prefix(1);
    if (!append_escaped(result)) {
      break;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> JsonReader::whole() {
  skip_space();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
  if (error != std::errc() || value < 0 || text_.starts_with('-')) {
    return std::nullopt;
  }
  text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
  const bool goes_on =
      !text_.empty() && std::string_view(".eE").find(text_.front()) != std::string_view::npos;
  return goes_on ? std::nullopt : std::optional(value);
}

// A number, true, false or null.
bool JsonReader::skip_word() {
  const std::size_t end = std::min(text_.find_first_of(",]} \t\r\n"), text_.size());
  const std::string_view word = text_.substr(0, end);
  text_.remove_prefix(end);
  return parse_number<double>(word) || word == "true" || word == "false" || word == "null";
}

bool JsonReader::skip(int depth) {
  skip_space();
  if (depth > kMaxDepth || text_.empty()) {
    return false;
  }
  switch (text_.front()) {
    case '"':
      return string().has_value();
    case '{':
      return object([&](const std::string& /*key*/) { return skip(depth + 1); });
    case '[':
      return array([&] { return skip(depth + 1); });
    default:
      return skip_word();
  }
}

std::string json_string(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (code < 0x20) {
      out += "\\u00";
      out += kHex[code >> 4U];
      out += kHex[code & 15U];
    } else {
      out += letter;
    }
  }
  return out + "\"";
}

}  // namespace mtf
