// Tables of numbers in text files, one row a line.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mtf {

// A table of numbers: rows of equally many columns.
struct CsvTable {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> numbers;  // row by row
  std::string problem;          // "" or what is wrong, with the place in the file
};

struct CsvForm {
  bool header = false;  // the first line names the columns
  char separator = ',';
};

[[nodiscard]] CsvTable parse_csv(std::string_view text, const CsvForm& form);

}  // namespace mtf
