// The cells of a line of a table in a text file, and the names above them.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/support/text/trimmed.h"

namespace mtf {

inline constexpr std::array<char, 4> kOtherSeparators{';', '\t', '|', ' '};  // besides the comma

[[nodiscard]] std::string_view without_quotes(std::string_view cell);

// The cells of a line, one after the other. Blanks between columns are as many as make them stand
// below each other; within quotes a separator is text.
class CsvCells {
 public:
  CsvCells(std::string_view line, char separator)
      : line_(separator == ' ' ? trimmed(line) : line), separator_(separator) {}

  // Nullopt: there is none left.
  std::optional<std::string_view> next();

 private:
  // Where the quotes that the next cell begins with end, or the line's begin; two of them stand for
  // one.
  [[nodiscard]] std::size_t end_of_quotes() const;

  std::string_view line_;
  char separator_;
  bool is_done_ = false;
};

struct CsvHeader {
  std::string_view text;  // a line, or several: in quotes there may be ends of lines
  bool is_open = false;   // a name in quotes has no end
};

// The header that a text begins with.
[[nodiscard]] CsvHeader header_of(std::string_view text, char separator);

[[nodiscard]] std::int64_t names_in(std::string_view header, char separator);
// Whether a header has a name for each of so many columns. Without a separator of the rows in it
// the names may stand apart otherwise, and `#` may stand before them, as before what is no number.
[[nodiscard]] bool names_columns(const CsvHeader& header, char separator, std::int64_t columns);

}  // namespace mtf
