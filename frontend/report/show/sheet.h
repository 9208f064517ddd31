// A grid of cells with heads, drawn with lines.
//
// While a picture is put together, text that belongs to a mesh axis is between marks of no width;
// `colored` makes colours of them, or takes them away.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/layout/mesh.h"

namespace mtf {

struct Sheet {
  std::string title;        // above; may be empty
  std::string row_name;     // what the heads of the rows are of
  std::string column_name;  // empty: the columns have no heads
  std::vector<std::string> row_heads;
  std::vector<std::string> column_heads;
  std::vector<std::vector<std::string>> cells;  // row by row
  std::optional<AxisId> row_axis;               // that splits the rows, and colours their heads
  std::optional<AxisId> column_axis;
};

struct SheetStyle {
  bool ascii = false;
  std::size_t columns = 80;  // of the terminal
  std::size_t head = 0;      // columns of the heads of rows, if no head needs more
  std::size_t cell = 4;      // and of a cell
  std::size_t least = 1;     // columns of cells, however narrow the terminal is
};

// The columns that heads of rows, and cells, need.
[[nodiscard]] std::size_t head_width(const Sheet& sheet);
[[nodiscard]] std::size_t cell_width(const Sheet& sheet);

// Of many rows and columns the first ones and the last.
[[nodiscard]] std::vector<std::string> lines_of(const Sheet& sheet, const SheetStyle& style);

// Which of so many things are shown.
[[nodiscard]] std::vector<std::int64_t> first_and_last(std::int64_t count, std::size_t most);

[[nodiscard]] std::string filled(const std::string& text, std::size_t width);
[[nodiscard]] std::string marked(const std::string& text, std::optional<AxisId> axis);
[[nodiscard]] std::string colored(std::string_view text, bool color);

}  // namespace mtf
