#include "stdlib/ops/source/csv_number.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "ir/support/diag.h"
#include "ir/support/number.h"
#include "ir/support/text/parse_number.h"
#include "ir/support/utf8.h"
#include "stdlib/ops/source/csv_cells.h"

namespace mtf {
namespace {

// "" or why the dtype cannot hold what stands in a cell.
std::string misfit(double number, DType dtype) {
  const std::string name(to_string(dtype));
  if (!is_float(dtype) && number != std::trunc(number)) {
    return " is no whole number, as " + name + " has them";
  }
  return holds(dtype, number) ? "" : " is beyond the range of " + name;
}

// Whole numbers of 64 bits as they are written; "" or what is wrong with `2.5` or `1e3`.
std::string read_whole(std::string_view text, CsvNumber& read) {
  constexpr double kExact = 0x1p53;
  if (const auto whole = parse_number<std::int64_t>(text)) {
    read.whole = *whole;
    return "";
  }
  std::string wrong = misfit(read.number, DType::kI64);
  if (!wrong.empty()) {
    return wrong;
  }
  if (std::abs(read.number) >= kExact) {
    return " is read as a float, which has 53 bits; without point and exponent it is exact";
  }
  read.whole = static_cast<std::int64_t>(read.number);
  return "";
}

// What other programs write for a number that is missing.
bool is_missing(std::string_view cell) {
  constexpr std::array<std::string_view, 7> kMissing{"na", "n/a", "null", "none", "?", "-", "."};
  std::string text(without_quotes(cell));
  std::ranges::transform(text, text.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return std::ranges::find(kMissing, text) != kMissing.end();
}

// Of a number that no float is near: whether 0 is.
bool is_tiny(std::string_view text) {
  return std::abs(std::strtod(std::string(text).c_str(), nullptr)) < 1;
}

// 1,000 and 1'000.
bool is_grouped(std::string_view cell) {
  std::string text(without_quotes(cell));
  std::erase_if(text, [](char c) { return c == ',' || c == '\''; });
  return is_number(text);
}

}  // namespace

std::string number_in(std::string_view cell, DType dtype, CsvNumber& read) {
  constexpr std::size_t kShown = 24;
  std::string_view text = without_quotes(cell);
  if (text.empty()) {
    return "the cell is empty";
  }
  const std::string shown = in_backticks(shortened(text, kShown));
  if (text.front() == '+' && !text.starts_with("+-")) {
    text.remove_prefix(1);
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read.number);
  const bool is_off = error == std::errc::result_out_of_range;  // what it was read as is not told
  if ((error != std::errc() && !is_off) || end != text.data() + text.size()) {
    return shown + " is not a number";
  }
  if (is_off && !is_tiny(text)) {
    return shown + " is beyond the range of numbers";
  }
  read.number = is_off ? std::copysign(0.0, text.front() == '-' ? -1.0 : 1.0) : read.number;
  const std::string wrong =
      dtype == DType::kI64 ? read_whole(text, read) : misfit(read.number, dtype);
  return wrong.empty() ? "" : shown + wrong;
}

bool is_number(std::string_view cell) {
  CsvNumber number;
  return number_in(cell, DType::kF64, number).empty();
}

bool is_word(std::string_view cell) {
  CsvNumber number;
  return number_in(cell, DType::kF64, number).ends_with("is not a number");
}

bool opens_quotes(std::string_view cell) {
  const std::string_view text = trimmed(cell);
  return text.starts_with('"') && (text.size() == 1 || !text.ends_with('"'));
}

std::string way_out_of_number(std::string_view cell, DType dtype) {
  CsvNumber read;
  static_cast<void>(number_in(cell, DType::kF64, read));
  const bool is_whole = read.number == std::trunc(read.number);
  const DType wider = is_float(dtype) || (is_whole && !holds(DType::kI64, read.number))
                          ? DType::kF64
                      : is_whole ? DType::kI64
                                 : DType::kF32;
  return wider == dtype ? ""
                        : "; `dtype = " + std::string(to_string(wider)) + "` reads it" +
                              (is_float(dtype) || wider != DType::kF64 ? "" : ", rounded");
}

std::string way_out_of_word(std::string_view cell, DType dtype) {
  const bool is_empty = trimmed(cell).empty();
  if (is_empty || is_missing(cell)) {
    return is_float(dtype) ? "; `nan` stands for a number that is missing"
                           : "; floats have `nan` for a number that is missing, and " +
                                 std::string(to_string(dtype)) + " has none";
  }
  if (!is_word(cell)) {
    return "";
  }
  if (trimmed(cell).starts_with('#')) {
    return "; a table has no remarks; its header alone may begin with `#`";
  }
  if (trimmed(cell).starts_with('\'') && is_grouped(cell)) {
    return "; a number stands alone, or between two `\"`";
  }
  return is_grouped(cell) ? "; a number has nothing between its digits"
                          : "; names have to be numbers here, as 0, 1 and 2 of three classes";
}

}  // namespace mtf
