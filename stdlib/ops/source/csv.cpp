#include "stdlib/ops/source/csv.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "ir/support/diag.h"
#include "ir/support/files/file_form.h"
#include "ir/support/number.h"
#include "ir/support/text/parse_number.h"
#include "ir/support/utf8.h"
#include "stdlib/ops/source/csv_cells.h"

namespace mtf {
namespace {

struct CsvNumber {
  double number = 0;
  std::int64_t whole = 0;  // of i64
};

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

// "" or what is wrong with a cell.
std::string number_in(std::string_view cell, DType dtype, CsvNumber& read) {
  constexpr std::size_t kShown = 24;
  std::string_view text = without_quotes(cell);
  if (text.empty()) {
    return "the cell is empty";
  }
  const std::string shown = in_backticks(shortened(text, kShown));
  if (text.front() == '+') {
    text.remove_prefix(1);
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read.number);
  if (error == std::errc::result_out_of_range) {
    return shown + " is beyond the range of numbers";
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    return shown + " is not a number";
  }
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

// What other programs write for a number that is missing.
bool is_missing(std::string_view cell) {
  constexpr std::array<std::string_view, 7> kMissing{"na", "n/a", "null", "none", "?", "-", "."};
  std::string text(without_quotes(cell));
  std::ranges::transform(text, text.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return std::ranges::find(kMissing, text) != kMissing.end();
}

// 1,000 and 1'000.
bool is_grouped(std::string_view cell) {
  std::string text(without_quotes(cell));
  std::erase_if(text, [](char c) { return c == ',' || c == '\''; });
  return is_number(text);
}

template <typename Predicate>
bool all_cells(std::string_view line, char separator, Predicate holds_of) {
  CsvCells cells(line, separator);
  for (auto cell = cells.next(); cell; cell = cells.next()) {
    if (!holds_of(*cell)) {
      return false;
    }
  }
  return true;
}

bool is_row(std::string_view line, char separator) {
  return all_cells(line, separator, is_number);
}

std::string separator_text(char separator) {
  return "`separator = \"" + (separator == '\t' ? "\\t" : std::string(1, separator)) + "\"`";
}

// "" or what a file is that is no table of lines.
std::string other_file(std::string_view text) {
  if (std::string other = no_text(std::as_bytes(std::span(text))); !other.empty()) {
    return other;
  }
  const std::size_t ends = trimmed(text).find('\r');
  return ends != std::string_view::npos && text.find('\n') == std::string_view::npos
             ? "ends its lines in carriage returns alone; a line ends in a line feed, `\\n`"
             : "";
}

class CsvReader {
 public:
  CsvReader(std::string_view text, const CsvForm& form, CsvRows rows, const TakeRow& take)
      : rest_(text), form_(form), rows_(rows), take_(take) {}

  CsvTable run() {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";  // of UTF-8, as spreadsheets write it
    if (rest_.starts_with(kMark)) {
      rest_.remove_prefix(kMark.size());
    }
    table_.problem = other_file(rest_);
    if (form_.header && table_.problem.empty()) {
      skip_header();
    }
    while (!rest_.empty() && table_.problem.empty() && table_.rows < rows_.end) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      const std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++line_;
      if (trimmed(line).empty()) {
        continue;
      }
      take_line(line);
    }
    if (table_.rows == 0 && table_.problem.empty()) {
      table_.problem = form_.header && line_ > 0 ? "has no row below its header" : "has no row";
    }
    return std::move(table_);
  }

 private:
  void skip_header() {
    const std::size_t first = rest_.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) {
      line_ = line_of(rest_.size());
      rest_ = {};
      return;
    }
    const std::size_t begin = rest_.rfind('\n', first) + 1;
    header_ = header_of(rest_.substr(begin), form_.separator);
    header_line_ = line_of(begin);
    if (header_.is_open) {
      table_.problem = ": line " + std::to_string(header_line_) +
                       ": a name in quotes has no end, and so the header none";
    }
    const std::size_t end = begin + header_.text.size();
    line_ = line_of(end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
  }

  [[nodiscard]] std::int64_t line_of(std::size_t at) const {
    return 1 + std::ranges::count(rest_.substr(0, at), '\n');
  }

  void take_line(std::string_view line) {
    if (table_.rows < rows_.first) {
      ++table_.rows;
      return;
    }
    numbers_.clear();
    whole_.clear();
    CsvCells cells(line, form_.separator);
    for (auto cell = cells.next(); cell; cell = cells.next()) {
      CsvNumber read;
      const std::string wrong = number_in(*cell, form_.dtype, read);
      numbers_.push_back(read.number);
      if (form_.dtype == DType::kI64) {
        whole_.push_back(read.whole);
      }
      if (!wrong.empty()) {
        table_.problem = ": " + place() + ": " + wrong + way_out(*cell, line);
        return;
      }
    }
    end_row();
  }

  // The line below one that names columns, which may go on to others in quotes.
  [[nodiscard]] std::string_view line_below(std::string_view names) const {
    std::string_view rest = rest_;
    bool is_quoted = std::ranges::count(names, '"') % 2 == 1;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size()));
      if (!is_quoted && !trimmed(line).empty()) {
        return line;
      }
      is_quoted = is_quoted != (std::ranges::count(line, '"') % 2 == 1);
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
    return {};
  }

  // For a first line with words in it: that it is a header, if the one below has numbers.
  [[nodiscard]] std::string as_header(std::string_view line) const {
    const auto is_no_word = [](std::string_view cell) { return !is_word(cell); };
    const std::string_view below = line_below(line);
    if (form_.header || table_.rows > 0 || below.empty() ||
        all_cells(line, form_.separator, is_no_word)) {
      return "";
    }
    std::string hint = "; if the line names the columns, say `header = true`";
    if (is_row(below, form_.separator)) {
      return hint;
    }
    const auto* other = std::ranges::find_if(
        kOtherSeparators, [below](char separator) { return is_row(below, separator); });
    if (other == kOtherSeparators.end() && !is_row(below, ',')) {
      return "";
    }
    return hint + " and " + separator_text(other == kOtherSeparators.end() ? ',' : *other);
  }

  // For a cell that is no number: what the form of the table may be instead, or what may stand
  // there.
  [[nodiscard]] std::string way_out(std::string_view cell, std::string_view line) const {
    if (is_number(cell)) {
      return "";
    }
    for (const char separator : kOtherSeparators) {
      const std::string_view first = cell.substr(0, std::min(cell.find(separator), cell.size()));
      const bool is_apart = separator == ' ' ? is_row(line, ' ')  // blanks stand beside others, too
                                             : first.size() < cell.size() && is_number(first);
      if (is_apart) {
        return "; if the columns stand apart so, say " + separator_text(separator);
      }
    }
    if (std::string hint = as_header(line); !hint.empty()) {
      return hint;
    }
    if (is_missing(cell) && is_float(form_.dtype)) {
      return "; `nan` stands for a number that is missing";
    }
    if (is_word(cell)) {
      return is_grouped(cell) ? "; a number has nothing between its digits"
                              : "; names have to be numbers here, as 0, 1 and 2 of three classes";
    }
    return trimmed(cell).empty() && is_float(form_.dtype)
               ? "; `nan` stands for a number that is missing"
               : "";
  }

  void end_row() {
    const auto columns = static_cast<std::int64_t>(numbers_.size());
    if (table_.columns == 0) {
      table_.columns = columns;
      table_.problem = other_header();
    } else if (columns != table_.columns) {
      table_.problem = ": " + place() + ": the row ends here; those above have " +
                       plural(table_.columns, "column");
    }
    if (!table_.problem.empty()) {
      return;
    }
    if (take_) {
      take_({.numbers = numbers_, .whole = whole_});
    }
    ++table_.rows;
  }

  // "" or that the header names more columns than the first row has, or fewer.
  [[nodiscard]] std::string other_header() const {
    if (header_.text.empty() || names_columns(header_, form_.separator, table_.columns)) {
      return "";
    }
    return ": line " + std::to_string(header_line_) + ": the header has " +
           plural(names_in(header_.text, form_.separator), "name") + ", but " + line_and_row() +
           " has " + plural(table_.columns, "column") +
           "; name each column once, or take that line out and leave `header = true` away";
  }

  [[nodiscard]] std::string line_and_row() const {
    return "line " + std::to_string(line_) + " (row " + std::to_string(table_.rows) + ")";
  }

  // Of the number that was read last.
  [[nodiscard]] std::string place() const {
    return line_and_row() + ", column " + std::to_string(numbers_.size());
  }

  std::string_view rest_;
  CsvForm form_;
  CsvRows rows_;
  const TakeRow& take_;
  CsvTable table_;
  CsvHeader header_;
  std::int64_t header_line_ = 0;
  std::vector<double> numbers_;      // of the line
  std::vector<std::int64_t> whole_;  // of i64, the same
  std::int64_t line_ = 0;
};

}  // namespace

CsvTable read_csv(std::string_view text, const CsvForm& form, CsvRows rows, const TakeRow& take) {
  return CsvReader(text, form, rows, take).run();
}

}  // namespace mtf
