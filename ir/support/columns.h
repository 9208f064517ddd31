// Text in aligned columns, for plans, totals and listings.
//
// Widths are those on a terminal. A column that is empty in every row takes no room.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mtf {

using Row = std::vector<std::string>;

struct ColumnStyle {
  std::size_t indent = 2;
  std::size_t gap = 2;
  std::size_t widest = 48;         // a longer cell pushes the rest of its line to the right
  std::size_t width = 196;         // a longer line goes on below, under its last cell
  std::vector<std::size_t> right;  // these columns are aligned on the right
};

// One line per row but for those that are too long, without trailing spaces. An empty row is an
// empty line.
[[nodiscard]] std::string in_columns(std::span<const Row> rows, const ColumnStyle& style = {});

}  // namespace mtf
