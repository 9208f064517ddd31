#include "stdlib/ops/source/csv_cells.h"

#include <algorithm>

namespace mtf {

std::string_view without_quotes(std::string_view cell) {
  const std::string_view text = trimmed(cell);
  return text.size() >= 2 && text.front() == '"' && text.back() == '"'
             ? trimmed(text.substr(1, text.size() - 2))
             : text;
}

std::optional<std::string_view> CsvCells::next() {
  if (is_done_) {
    return std::nullopt;
  }
  const std::size_t end = std::min(line_.find(separator_, end_of_quotes()), line_.size());
  const std::string_view cell = line_.substr(0, end);
  is_done_ = end == line_.size();
  line_.remove_prefix(std::min(end + 1, line_.size()));
  if (separator_ == ' ') {
    line_.remove_prefix(std::min(line_.find_first_not_of(' '), line_.size()));
  }
  return cell;
}

std::size_t CsvCells::end_of_quotes() const {
  const std::size_t first = line_.find_first_not_of(' ');
  if (first == std::string_view::npos || line_[first] != '"') {
    return 0;
  }
  std::size_t end = line_.find('"', first + 1);
  while (end != std::string_view::npos && line_.substr(end + 1).starts_with('"')) {
    end = line_.find('"', end + 2);
  }
  return end == std::string_view::npos ? 0 : end;
}

CsvHeader header_of(std::string_view text, char separator) {
  bool is_quoted = false;
  bool is_at_begin = true;  // of a name, where alone a quote opens it
  std::size_t at = 0;
  for (; at < text.size() && (is_quoted || text[at] != '\n'); ++at) {
    const char c = text[at];
    const bool is_quote = c == '"' && (is_quoted || is_at_begin);  // two of them stand for one
    is_quoted = is_quoted != is_quote;
    is_at_begin = is_quote || c == separator || (is_at_begin && (c == ' ' || c == '\t'));
  }
  return {.text = text.substr(0, at), .is_open = is_quoted};
}

std::int64_t names_in(std::string_view header, char separator) {
  std::int64_t count = 0;
  CsvCells cells(header, separator);
  for (auto cell = cells.next(); cell; cell = cells.next()) {
    ++count;
  }
  return count;
}

bool names_columns(const CsvHeader& header, char separator, std::int64_t columns) {
  const std::string_view all = trimmed(header.text);
  const std::string_view marked = all.starts_with('#') ? all.substr(1) : all;
  const auto fits = [&](char apart) {
    return names_in(header.text, apart) == columns || names_in(marked, apart) == columns;
  };
  return fits(separator) || (names_in(header.text, separator) == 1 &&
                             (fits(',') || std::ranges::any_of(kOtherSeparators, fits)));
}

}  // namespace mtf
