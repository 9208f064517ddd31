// Two passes: the widths of the columns, then the lines.

#include "ir/support/columns.h"

#include <algorithm>

namespace mtf {
namespace {

std::vector<std::size_t> widths_of(std::span<const Row> rows, std::size_t widest) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t width = code_points(row[i]);
      // One cell beyond the limit does not widen the column for all.
      widths[i] = std::max(widths[i], width > widest ? std::size_t{0} : width);
      widths[i] = std::max(widths[i], std::min(width, std::size_t{1}));
    }
  }
  return widths;
}

std::string line_of(const Row& row, const std::vector<std::size_t>& widths,
                    const ColumnStyle& style) {
  std::string line;
  std::size_t target = style.indent;
  std::size_t end = 0;  // of the cell before
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (widths[i] == 0) {
      continue;
    }
    if (const std::size_t width = code_points(row[i]); width > 0) {
      const bool right = std::ranges::find(style.right, i) != style.right.end();
      const std::size_t lead = right && width < widths[i] ? widths[i] - width : 0;
      const std::size_t start = std::max(target + lead, end == 0 ? 0 : end + style.gap);
      line.append(start - end, ' ');
      line += row[i];
      end = start + width;
    }
    target += widths[i] + style.gap;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string in_columns(std::span<const Row> rows, const ColumnStyle& style) {
  const std::vector<std::size_t> widths = widths_of(rows, style.widest);
  std::string text;
  for (const Row& row : rows) {
    text += line_of(row, widths, style);
  }
  return text;
}

}  // namespace mtf
