#include "ir/support/number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace mtf {
namespace {

constexpr std::size_t kLongest = 400;  // -1.8e308 in fixed notation, with decimals

template <typename... Form>
std::string printed(double value, Form... form) {
  std::array<char, kLongest> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, form...).ptr;
  return {buffer.data(), end};
}

constexpr std::string_view kSides = "<^>=";

bool is_among(std::string_view some, char c) {
  return some.find(c) != std::string_view::npos;
}

// Takes one of some characters off the beginning, if it is there.
bool take(std::string_view& text, std::string_view some, char& taken) {
  if (text.empty() || !is_among(some, text.front())) {
    return false;
  }
  taken = text.front();
  text.remove_prefix(1);
  return true;
}

bool take_count(std::string_view& text, int& count) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  if (end == 0 || end > 2) {
    return false;
  }
  std::from_chars(text.data(), text.data() + end, count);
  text.remove_prefix(end);
  return true;
}

// What can fill a format's columns: braces would end the format.
bool is_fill(char c) {
  return c >= ' ' && c <= '~' && c != '{' && c != '}';
}

char upper_case(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

// 1234567 as 1,234,567.
std::string grouped(std::string digits, char group) {
  for (std::size_t i = digits.size(); group != '\0' && i > 3;) {
    i -= 3;
    digits.insert(i, 1, group);
  }
  return digits;
}

}  // namespace

std::string fixed(double value, int decimals) {
  return printed(value, std::chars_format::fixed, decimals);
}

std::string scientific(double value, int decimals) {
  return printed(value, std::chars_format::scientific, decimals);
}

std::string hex16(std::uint64_t number) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[text.size() - 1 - i] = kHex[(number >> (4 * i)) & 15U];
  }
  return text;
}

std::string significant(double value, int digits) {
  return printed(value, std::chars_format::general, digits);
}

std::string shortest(double value) {
  return printed(value);
}

std::optional<NumberFormat> number_format(std::string_view text) {
  NumberFormat format;
  const bool filled = text.size() > 1 && is_among(kSides, text[1]) && is_fill(text[0]);
  if (filled) {
    format.fill = text[0];
    text.remove_prefix(1);
  }
  take(text, kSides, format.side);
  take(text, "+ ", format.sign);
  if (char zero = '\0'; take(text, "0", zero) && !filled) {
    format.fill = zero;
    format.side = format.side == '\0' ? '=' : format.side;
  }
  take_count(text, format.width);
  take(text, ",_", format.group);
  char point = '\0';
  if (take(text, ".", point) && !take_count(text, format.digits)) {
    return std::nullopt;
  }
  take(text, "fegd%FEG", format.kind);
  const bool ok = text.empty() && !(format.kind == 'd' && format.digits >= 0);
  return ok ? std::optional(format) : std::nullopt;
}

std::string to_string(const NumberFormat& format) {
  const auto written = [](char c) { return c == '\0' ? std::string() : std::string(1, c); };
  const bool zeros = format.fill == '0' && format.side == '=';
  return (zeros || format.side == '\0' ? "" : std::string{format.fill, format.side}) +
         written(format.sign) + (zeros ? "0" : "") +
         (format.width > 0 ? std::to_string(format.width) : "") + written(format.group) +
         (format.digits >= 0 ? "." + std::to_string(format.digits) : "") + written(format.kind);
}

std::string padded(std::string number, const NumberFormat& format) {
  const bool negative = number.starts_with('-');
  const std::string sign = negative ? "-" : std::string(format.sign == '\0' ? 0 : 1, format.sign);
  number.erase(0, negative ? 1 : 0);
  const std::size_t end = std::min(number.find_first_not_of("0123456789"), number.size());
  const auto width = static_cast<std::size_t>(format.width);
  const std::string rest = number.substr(end);
  std::string whole = grouped(number.substr(0, end), format.group);
  // Zeros in front are digits between whose thousands something stands, too.
  const bool zeros = format.fill == '0' && format.side == '=' && format.group != '\0';
  for (std::size_t digits = end + 1;
       zeros && end > 0 && sign.size() + whole.size() + rest.size() < width; ++digits) {
    whole = grouped(std::string(digits - end, '0') + number.substr(0, end), format.group);
  }
  const std::size_t size = sign.size() + whole.size() + rest.size();
  const std::size_t room = width > size ? width - size : 0;
  const std::size_t behind = format.side == '<' ? room : format.side == '^' ? room - room / 2 : 0;
  const std::string before(room - behind, format.fill);
  return (format.side == '=' ? sign + before : before + sign) + whole + rest +
         std::string(behind, format.fill);
}

std::string formatted(double value, const NumberFormat& format) {
  constexpr int kDigits = 6;  // Python's
  const int digits = format.digits < 0 ? kDigits : format.digits;
  const bool upper = format.kind >= 'A' && format.kind <= 'Z';
  std::string number;
  switch (upper ? format.kind - 'A' + 'a' : format.kind) {
    case 'f':
      number = fixed(value, digits);
      break;
    case 'e':
      number = scientific(value, digits);
      break;
    case '%':
      number = fixed(100 * value, digits) + "%";
      break;
    case 'd':
      number = fixed(value, 0);
      break;
    default:
      number = significant(value, digits);
  }
  if (std::isnan(value)) {  // whose sign says nothing
    number = format.kind == '%' ? "nan%" : "nan";
  }
  if (upper) {
    std::ranges::transform(number, number.begin(), upper_case);
  }
  return padded(std::move(number), format);
}

std::string formatted(std::int64_t value, const NumberFormat& format) {
  const bool whole = format.kind == 'd' || (format.kind == '\0' && format.digits < 0);
  return whole ? padded(std::to_string(value), format)
               : formatted(static_cast<double>(value), format);
}

}  // namespace mtf
