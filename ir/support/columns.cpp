// Two passes: the widths of the columns, then the lines.

#include "ir/support/columns.h"

#include <algorithm>

#include "ir/support/utf8.h"

namespace mtf {
namespace {

constexpr std::size_t kNarrowest = 24;  // columns, below which a cell is not wrapped

std::vector<std::size_t> widths_of(std::span<const Row> rows, std::size_t widest) {
  std::vector<std::size_t> widths;
  const bool alone = std::ranges::all_of(rows, [](const Row& row) { return row.size() <= 1; });
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t width = display_width(row[i]);
      // One cell beyond the limit does not widen the column for all, nor does a line of one cell.
      const bool counts = width <= widest && (row.size() > 1 || alone);
      widths[i] = std::max(widths[i], counts ? width : std::size_t{0});
      widths[i] = std::max(widths[i], std::min(width, std::size_t{1}));
    }
  }
  return widths;
}

// Words in lines of at most `width` columns; a longer word has a line of its own.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t filled = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' ', 1), text.size());
    const std::string_view word = text.substr(0, end);  // with the space before it
    const std::size_t columns = display_width(word);
    if (filled > 0 && filled + columns > width) {
      lines.emplace_back(word.substr(word.starts_with(' ') ? 1 : 0));
      filled = display_width(lines.back());
    } else {
      lines.back() += word;
      filled += columns;
    }
    text.remove_prefix(end);
  }
  return lines;
}

std::string line_of(const Row& row, const std::vector<std::size_t>& widths,
                    const ColumnStyle& style) {
  std::string line;
  std::size_t target = style.indent;
  std::size_t end = 0;    // of the cell before
  std::size_t start = 0;  // of the last cell, in columns
  std::size_t cell = 0;   // and in bytes
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (widths[i] == 0) {
      continue;
    }
    if (const std::size_t width = display_width(row[i]); width > 0) {
      const bool right = std::ranges::find(style.right, i) != style.right.end();
      const std::size_t lead = right && width < widths[i] ? widths[i] - width : 0;
      start = std::max(target + lead, end == 0 ? 0 : end + style.gap);
      line.append(start - end, ' ');
      cell = line.size();
      line += row[i];
      end = start + width;
    }
    target += widths[i] + style.gap;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  if (end <= style.width || start + kNarrowest > style.width) {
    return line + "\n";
  }
  const std::vector<std::string> lines = wrapped(line.substr(cell), style.width - start);
  std::string text = line.substr(0, cell) + lines.front();
  for (const std::string& more : std::span(lines).subspan(1)) {
    text += "\n" + std::string(start, ' ') + more;
  }
  return text + "\n";
}

}  // namespace

std::string in_columns(std::span<const Row> rows, const ColumnStyle& style) {
  const std::vector<std::size_t> widths = widths_of(rows, style.widest);
  std::string text;
  for (const Row& row : rows) {
    text += line_of(row, widths, style);
  }
  return text;
}

}  // namespace mtf
