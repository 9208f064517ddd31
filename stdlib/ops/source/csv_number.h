// The number in a cell of a table, and what may be meant where there is none.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/dtype.h"

namespace mtf {

struct CsvNumber {
  double number = 0;
  std::int64_t whole = 0;  // of i64
};

// "" or what is wrong with a cell.
[[nodiscard]] std::string number_in(std::string_view cell, DType dtype, CsvNumber& read);
[[nodiscard]] bool is_number(std::string_view cell);
// Whether a cell is neither empty nor a number, however large.
[[nodiscard]] bool is_word(std::string_view cell);
// Whether it begins with a quote that does not end in it.
[[nodiscard]] bool opens_quotes(std::string_view cell);

// "; …" or nothing. Of a number that the dtype cannot hold, and of what is none.
[[nodiscard]] std::string way_out_of_number(std::string_view cell, DType dtype);
[[nodiscard]] std::string way_out_of_word(std::string_view cell, DType dtype);

}  // namespace mtf
