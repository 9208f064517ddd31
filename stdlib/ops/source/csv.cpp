#include "stdlib/ops/source/csv.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "ir/support/diag.h"
#include "ir/support/files/file_form.h"
#include "ir/support/number.h"
#include "stdlib/ops/source/csv_cells.h"
#include "stdlib/ops/source/csv_number.h"

namespace mtf {
namespace {

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
      return way_out_of_number(cell, form_.dtype);
    }
    if (opens_quotes(cell)) {
      return "; quotes stand around a whole cell, which ends in its line";
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
    const bool is_last = cell.data() + cell.size() == line.data() + line.size();
    return way_out_of_word(cell, form_.dtype) +
           (trimmed(cell).empty() && is_last ? ", and a line ends without a separator" : "");
  }

  void end_row() {
    const auto columns = static_cast<std::int64_t>(numbers_.size());
    if (table_.columns == 0) {
      table_.columns = columns;
      table_.problem = other_header();
    } else if (columns != table_.columns) {
      table_.problem = ": " + place() + ": the row ends here; those above have " +
                       plural(table_.columns, "column") + other_columns(columns);
    }
    if (!table_.problem.empty()) {
      return;
    }
    if (take_) {
      take_({.numbers = numbers_, .whole = whole_});
    }
    ++table_.rows;
  }

  // What a row of more or fewer columns than those above may need.
  [[nodiscard]] std::string other_columns(std::int64_t columns) const {
    if (columns > table_.columns) {
      return ", and a separator within a cell stands in quotes";
    }
    return is_float(form_.dtype) ? ", and `nan` stands for a number that is missing" : "";
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
