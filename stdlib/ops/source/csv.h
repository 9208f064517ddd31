// Tables of numbers in text files, one row a line.

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "ir/dtype.h"

namespace mtf {

struct CsvTable {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::string problem;  // "" or what is wrong, with the place in the file
};

struct CsvForm {
  bool header = false;  // the first line names the columns
  char separator = ',';
  DType dtype = DType::kF64;  // which has to hold the numbers
};

struct CsvRow {
  std::span<const double> numbers;
  std::span<const std::int64_t> whole;  // the same of a table of i64, which doubles may not hold
};
using TakeRow = std::function<void(const CsvRow& row)>;
// The rows that are looked at: [first, end). Lines of others are passed over.
struct CsvRows {
  std::int64_t first = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
};

// Rows that have equally many columns. What is counted reaches to the last one that is looked at.
[[nodiscard]] CsvTable read_csv(std::string_view text, const CsvForm& form, CsvRows rows = {},
                                const TakeRow& take = {});

}  // namespace mtf
