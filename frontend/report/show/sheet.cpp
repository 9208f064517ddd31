#include "frontend/report/show/sheet.h"

#include <algorithm>
#include <array>

#include "ir/support/utf8.h"

namespace mtf {
namespace {

constexpr std::size_t kMostRows = 16;
constexpr std::size_t kLeastRoom = 20;
constexpr std::size_t kFrame = 4;    // of a line: its indent, and what is beside its cells
constexpr char kFirstMark = '\x10';  // of axis 0; those of all axes lie below the blank
constexpr char kLastMark = '\x1f';
constexpr char kEndMark = '\x0f';
constexpr std::string_view kGap = "... ";

class Drawing {
 public:
  Drawing(const Sheet& sheet, const SheetStyle& style)
      : sheet_(sheet),
        style_(style),
        head_(std::max(style.head, head_width(sheet))),
        cell_(std::max(style.cell, cell_width(sheet))),
        rows_(first_and_last(static_cast<std::int64_t>(sheet.cells.size()), kMostRows)) {
    const std::size_t count = sheet.cells.front().size();
    const std::size_t room = std::max(style.columns, head_ + kLeastRoom) - head_ - kFrame;
    const std::size_t fits = room / (cell_ + 3);
    const std::size_t fits_with_gap = (room - kGap.size()) / (cell_ + 3);
    columns_ = first_and_last(static_cast<std::int64_t>(count),
                              std::max(style.least, count <= fits ? count : fits_with_gap));
  }

  std::vector<std::string> lines() {
    if (!sheet_.title.empty()) {
      add("  " + sheet_.title);
    }
    add_column_heads();
    add_rule(0);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (r > 0) {
        add_rule(1);
      }
      if (r > 0 && rows_[r] != rows_[r - 1] + 1) {
        add("  ...");
        add_rule(1);
      }
      add_row(static_cast<std::size_t>(rows_[r]));
    }
    add_rule(2);
    return std::move(lines_);
  }

 private:
  void add(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    lines_.push_back(std::move(line));
  }

  [[nodiscard]] bool gap_before(std::size_t column) const {
    return columns_[column] != (column == 0 ? 0 : columns_[column - 1] + 1);
  }

  void add_column_heads() {
    const std::string row_name = marked(sheet_.row_name, sheet_.row_axis);
    if (sheet_.column_name.empty()) {
      add("  " + row_name);
      return;
    }
    add("  " + filled("", head_) + "   " + marked(sheet_.column_name, sheet_.column_axis));
    std::string text = "  " + filled(row_name, head_) + "  ";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& head = sheet_.column_heads[static_cast<std::size_t>(columns_[i])];
      text += " " + std::string(gap_before(i) ? kGap : "") +
              filled(marked(head, sheet_.column_axis), cell_ + 2);
    }
    add(std::move(text));
  }

  void add_rule(std::size_t kind) {
    constexpr std::array<std::array<const char*, 3>, 3> kCorners = {
        {{"┌", "┬", "┐"}, {"├", "┼", "┤"}, {"└", "┴", "┘"}}};
    std::string text = "  " + filled("", head_) + " ";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      text += style_.ascii ? "+" : kCorners[kind][i == 0 ? 0 : 1];
      for (std::size_t n = 0; n < cell_ + 2 + (gap_before(i) ? kGap.size() : 0); ++n) {
        text += style_.ascii ? "-" : "─";
      }
    }
    add(text + (style_.ascii ? "+" : kCorners[kind][2]));
  }

  void add_row(std::size_t row) {
    const std::string bar = style_.ascii ? "|" : "│";
    const std::string& head = sheet_.row_heads[row];
    std::string text = "  " + filled(marked(head, sheet_.row_axis), head_) + " ";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      text += bar + " " + std::string(gap_before(i) ? kGap : "") +
              filled(sheet_.cells[row][static_cast<std::size_t>(columns_[i])], cell_) + " ";
    }
    add(text + bar);
  }

  const Sheet& sheet_;
  const SheetStyle& style_;
  std::size_t head_;
  std::size_t cell_;
  std::vector<std::int64_t> rows_;
  std::vector<std::int64_t> columns_;
  std::vector<std::string> lines_;
};

}  // namespace

std::size_t head_width(const Sheet& sheet) {
  // Without columns, the name stands above them.
  std::size_t width = display_width(sheet.row_name);
  for (const std::string& head : sheet.row_heads) {
    width = std::max(width, display_width(head));
  }
  return width;
}

std::size_t cell_width(const Sheet& sheet) {
  std::size_t width = 0;
  for (const std::vector<std::string>& row : sheet.cells) {
    for (const std::string& cell : row) {
      width = std::max(width, display_width(cell));
    }
  }
  for (const std::string& head : sheet.column_heads) {
    width = std::max(width, display_width(head));
  }
  return width;
}

std::vector<std::string> lines_of(const Sheet& sheet, const SheetStyle& style) {
  return Drawing(sheet, style).lines();
}

std::vector<std::int64_t> first_and_last(std::int64_t count, std::size_t most) {
  const auto limit = static_cast<std::int64_t>(most);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < std::min(count, count <= limit ? limit : limit - 1); ++i) {
    places.push_back(i);
  }
  if (count > limit) {
    places.push_back(count - 1);
  }
  return places;
}

std::string filled(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, display_width(text)), ' ');
}

std::string marked(const std::string& text, std::optional<AxisId> axis) {
  return !axis || text.empty() ? text
                               : std::string(1, static_cast<char>(kFirstMark + *axis)) + text +
                                     std::string(1, kEndMark);
}

std::string colored(std::string_view text, bool color) {
  constexpr std::array kColors = {"36", "33", "35", "32", "34", "31"};
  std::string result;
  for (const char letter : text) {
    if (letter >= kFirstMark && letter <= kLastMark) {
      const auto axis = static_cast<std::size_t>(letter - kFirstMark);
      result += color ? "\x1b[" + std::string(kColors[axis % kColors.size()]) + "m" : "";
    } else if (letter == kEndMark) {
      result += color ? "\x1b[0m" : "";
    } else {
      result += letter;
    }
  }
  return result;
}

}  // namespace mtf
