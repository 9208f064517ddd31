// Numbers as text. What a person or a program reads comes from here.

#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mtf {

[[nodiscard]] std::string fixed(double value, int decimals);       // "0.50"
[[nodiscard]] std::string scientific(double value, int decimals);  // "5.0e-01"
[[nodiscard]] std::string significant(double value, int digits);   // "1.2e-07", "0.5"
[[nodiscard]] std::string shortest(double value);                  // that reads back as the same
[[nodiscard]] std::string hex16(std::uint64_t number);             // 16 digits

// "1 element", "2 elements".
template <std::integral Count>
[[nodiscard]] std::string plural(Count count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

// How a number in a text is written, as in Python: `{loss:.4f}` is
// "[[fill]side][sign][0][width][group][.digits][kind]".
struct NumberFormat {
  char fill = ' ';    // up to the width
  char side = '\0';   // <, ^ or >; =, behind the sign; or none: on the right
  char sign = '\0';   // + or a blank, of what is not negative
  int width = 0;      // at least so many columns
  char group = '\0';  // between thousands: 1,234,567 or 1_234_567
  int digits = -1;    // behind the point; of `g` and of no kind, in all; -1: by the kind
  char kind = '\0';   // f, e, g, %, d (a whole number), F, E, G, or none: as it prints

  [[nodiscard]] bool is_plain() const { return *this == NumberFormat{}; }
  friend bool operator==(const NumberFormat&, const NumberFormat&) = default;
};

[[nodiscard]] std::optional<NumberFormat> number_format(std::string_view text);
[[nodiscard]] std::string to_string(const NumberFormat& format);  // as it is written
[[nodiscard]] std::string formatted(double value, const NumberFormat& format);
// Of a whole number, `d` or no kind.
[[nodiscard]] std::string formatted(std::int64_t value, const NumberFormat& format);
// A text that is a number already, in its columns, with its sign and between its thousands.
[[nodiscard]] std::string padded(std::string number, const NumberFormat& format);

}  // namespace mtf
