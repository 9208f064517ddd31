#include "stdlib/ops/source/csv.h"

#include <algorithm>
#include <charconv>

#include "ir/support/diag.h"
#include "ir/support/utf8.h"

namespace mtf {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(kBlank) + 1 - first);
}

// "" or what is wrong with a cell.
std::string number_in(std::string_view cell, double& number) {
  constexpr std::size_t kShown = 24;
  std::string_view text = trimmed(cell);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = trimmed(text.substr(1, text.size() - 2));
  }
  if (text.empty()) {
    return "the cell is empty";
  }
  const std::string shown = in_backticks(shortened(text, kShown));
  if (text.front() == '+') {
    text.remove_prefix(1);
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) {
    return shown + " is beyond the range of numbers";
  }
  return error == std::errc() && end == text.data() + text.size() ? "" : shown + " is not a number";
}

class CsvReader {
 public:
  CsvReader(std::string_view text, const CsvForm& form) : rest_(text), form_(form) {}

  CsvTable run() {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";  // of UTF-8, as spreadsheets write it
    if (rest_.starts_with(kMark)) {
      rest_.remove_prefix(kMark.size());
    }
    bool skips = form_.header;
    while (!rest_.empty() && table_.problem.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      const std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++line_;
      if (trimmed(line).empty()) {
        continue;
      }
      if (!skips) {
        take(line);
      }
      skips = false;
    }
    if (table_.rows == 0 && table_.problem.empty()) {
      table_.problem = form_.header && line_ > 0 ? "has no row below its header" : "has no row";
    }
    return std::move(table_);
  }

 private:
  void take(std::string_view line) {
    std::int64_t column = 0;
    while (true) {
      const std::size_t end = std::min(line.find(form_.separator), line.size());
      double number = 0;
      const std::string wrong = number_in(line.substr(0, end), number);
      ++column;
      if (!wrong.empty()) {
        const bool may_be_header = table_.rows == 0 && !form_.header;
        table_.problem =
            ": " + place(column) + ": " + wrong +
            (may_be_header ? "; if the line names the columns, say `header = true`" : "");
        return;
      }
      table_.numbers.push_back(number);
      if (end == line.size()) {
        break;
      }
      line.remove_prefix(end + 1);
    }
    if (table_.rows == 0) {
      table_.columns = column;
    } else if (column != table_.columns) {
      table_.problem = ": " + place(column) + ": the row ends here; those above have " +
                       std::to_string(table_.columns) +
                       (table_.columns == 1 ? " column" : " columns");
    }
    ++table_.rows;
  }

  [[nodiscard]] std::string place(std::int64_t column) const {
    return "line " + std::to_string(line_) + " (row " + std::to_string(table_.rows) + "), column " +
           std::to_string(column);
  }

  std::string_view rest_;
  CsvForm form_;
  CsvTable table_;
  std::int64_t line_ = 0;
};

}  // namespace

CsvTable parse_csv(std::string_view text, const CsvForm& form) {
  return CsvReader(text, form).run();
}

}  // namespace mtf
