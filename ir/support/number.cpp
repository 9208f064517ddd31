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
  const auto take = [&text](char c) {
    const bool there = text.starts_with(c);
    text.remove_prefix(there ? 1 : 0);
    return there;
  };
  const auto take_count = [&text](int& count) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    const bool fits = end > 0 && end <= 2;
    if (fits) {
      std::from_chars(text.data(), text.data() + end, count);
      text.remove_prefix(end);
    }
    return fits;
  };
  format.sign = take('+');
  format.zeros = text.starts_with('0');
  take_count(format.width);
  format.thousands = take(',');
  if (take('.') && !take_count(format.digits)) {
    return std::nullopt;
  }
  for (const char kind : std::string_view("fegd%")) {
    if (format.kind == '\0' && take(kind)) {
      format.kind = kind;
    }
  }
  const bool ok = text.empty() && !(format.kind == 'd' && format.digits >= 0);
  return ok ? std::optional(format) : std::nullopt;
}

std::string to_string(const NumberFormat& format) {
  return std::string(format.sign ? "+" : "") + (format.zeros ? "0" : "") +
         (format.width > 0 ? std::to_string(format.width) : "") + (format.thousands ? "," : "") +
         (format.digits >= 0 ? "." + std::to_string(format.digits) : "") +
         (format.kind == '\0' ? "" : std::string(1, format.kind));
}

std::string padded(std::string number, const NumberFormat& format) {
  const std::size_t first = number.starts_with('-') ? 1 : 0;
  if (format.thousands) {
    const std::size_t end = std::min(number.find_first_not_of("0123456789", first), number.size());
    for (std::size_t i = end; i > first + 3;) {
      i -= 3;
      number.insert(i, ",");
    }
  }
  if (format.sign && first == 0) {
    number.insert(0, "+");
  }
  const auto width = static_cast<std::size_t>(format.width);
  if (number.size() < width) {
    const bool signs = number.starts_with('-') || number.starts_with('+');
    number.insert(format.zeros && signs ? 1 : 0, width - number.size(), format.zeros ? '0' : ' ');
  }
  return number;
}

std::string formatted(double value, const NumberFormat& format) {
  constexpr int kDigits = 6;  // Python's
  const int digits = format.digits < 0 ? kDigits : format.digits;
  if (!std::isfinite(value)) {
    return padded(std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf", format);
  }
  switch (format.kind) {
    case 'f':
      return padded(fixed(value, digits), format);
    case 'e':
      return padded(scientific(value, digits), format);
    case '%':
      return padded(fixed(100 * value, digits) + "%", format);
    case 'd':
      return padded(fixed(value, 0), format);
    default:
      return padded(significant(value, digits), format);
  }
}

std::string formatted(std::int64_t value, const NumberFormat& format) {
  const bool whole = format.kind == 'd' || (format.kind == '\0' && format.digits < 0);
  return whole ? padded(std::to_string(value), format)
               : formatted(static_cast<double>(value), format);
}

}  // namespace mtf
