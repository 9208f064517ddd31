// A grid of blocks: rows are blocks of one dim, columns of another, and where three or more dims
// are split there is a grid for each block of the others.

#include <algorithm>
#include <array>

#include "frontend/report/quantity.h"
#include "frontend/report/show/blocks.h"

namespace mtf {
namespace {

constexpr std::size_t kMostRows = 16;
constexpr std::size_t kMostGrids = 4;
constexpr std::size_t kMostLabel = 24;

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, text.size()), ' ');
}

// What a rank holds of a dim: "32..64", "all" or "none".
std::string range_text(const Slice& slice, std::size_t dim) {
  const std::int64_t begin = slice.offset[dim];
  const std::int64_t extent = slice.extent[dim];
  return extent == 0 ? "none" : std::to_string(begin) + ".." + std::to_string(begin + extent);
}

// "0-3", of pending sums "0+1 2+3", of nobody "-".
std::string label(const Block& block) {
  std::vector<std::int64_t> single;
  std::string sums;
  for (const std::vector<std::int64_t>& terms : block.holders) {
    if (terms.size() == 1) {
      single.push_back(terms.front());
      continue;
    }
    std::string sum;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      sum += (sum.empty() ? "" : "+") + std::to_string(terms[i]);
    }
    if (terms.size() > 4) {
      sum = std::to_string(terms.front()) + "+..+" + std::to_string(terms.back());
    }
    sums += (sums.empty() ? "" : " ") + sum;
  }
  std::string text = sums.empty() ? ranks_text(single) : sums;
  if (text.size() > kMostLabel) {
    text = text.substr(0, kMostLabel - 2) + "..";
  }
  return text.empty() ? "-" : text;
}

bool holds_rank(const Block& block, std::optional<std::int64_t> rank) {
  return rank && std::ranges::any_of(block.holders, [&](const std::vector<std::int64_t>& terms) {
           return std::ranges::find(terms, *rank) != terms.end();
         });
}

// Which of so many rows or columns are shown: the first ones and the last.
std::vector<std::int64_t> shown(std::int64_t count, std::size_t most) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < count; ++i) {
    const bool fits = static_cast<std::size_t>(count) <= most;
    if (fits || i < static_cast<std::int64_t>(most) - 1 || i == count - 1) {
      places.push_back(i);
    }
  }
  return places;
}

class Grid {
 public:
  Grid(const Picture& picture, const PictureOptions& options)
      : picture_(picture),
        options_(options),
        blocks_(blocks_of(picture.type.shape, picture.layout, picture.mesh)) {
    choose_dims();
  }

  std::string run() {
    std::string text;
    if (blocks_.list.size() > 1) {
      std::int64_t grids = 1;
      for (const std::size_t d : others_) {
        grids *= blocks_.parts[d];
      }
      for (const std::int64_t grid : shown(grids, kMostGrids)) {
        text += text.empty() ? "" : "\n";
        text +=
            grid == grids - 1 && grids > static_cast<std::int64_t>(kMostGrids) ? "  ...\n\n" : "";
        text += one(grid);
      }
    } else {
      text = "  every rank that holds it has all of it: " + label(blocks_.list.front()) + "\n";
    }
    if (!blocks_.nothing.empty()) {
      text += "\n  nothing is held by " + ranks_text(blocks_.nothing) + "\n";
    }
    return text + legend();
  }

 private:
  // The last two dims that are split make the grid; of one alone, its blocks stand side by side.
  void choose_dims() {
    std::vector<std::size_t> split;
    for (std::size_t d = 0; d < blocks_.parts.size(); ++d) {
      if (blocks_.parts[d] > 1) {
        split.push_back(d);
      }
    }
    if (!split.empty()) {
      const bool is_row = split.size() == 1 && split.front() == 0 && blocks_.parts.size() > 1;
      (is_row ? row_ : column_) = split.back();
      split.pop_back();
    }
    if (!split.empty()) {
      row_ = split.back();
      split.pop_back();
    }
    others_ = std::move(split);
  }

  [[nodiscard]] const Block& at(std::int64_t grid, std::int64_t row, std::int64_t column) const {
    std::vector<std::int64_t> index(blocks_.parts.size(), 0);
    for (std::size_t i = others_.size(); i-- > 0;) {
      index[others_[i]] = grid % blocks_.parts[others_[i]];
      grid /= blocks_.parts[others_[i]];
    }
    if (row_) {
      index[*row_] = row;
    }
    if (column_) {
      index[*column_] = column;
    }
    std::int64_t place = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      place = place * blocks_.parts[d] + index[d];
    }
    return blocks_.list[static_cast<std::size_t>(place)];
  }

  [[nodiscard]] const std::string& dim(std::size_t d) const { return picture_.type.shape[d].name; }

  std::string one(std::int64_t grid) {
    const std::int64_t all_rows = row_ ? blocks_.parts[*row_] : 1;
    const std::int64_t all_columns = column_ ? blocks_.parts[*column_] : 1;
    const std::vector<std::int64_t> rows = shown(all_rows, kMostRows);
    std::size_t left = row_ ? dim(*row_).size() : 0;
    std::size_t width = 4;
    for (const std::int64_t row : rows) {
      left = row_ ? std::max(left, range_text(at(grid, row, 0).slice, *row_).size()) : left;
      for (std::int64_t column = 0; column < all_columns; ++column) {
        const Block& block = at(grid, row, column);
        width = std::max(width, cell(block).size());
        width = column_ ? std::max(width, range_text(block.slice, *column_).size()) : width;
      }
    }
    const std::size_t fits = std::max<std::size_t>(
        2, (std::max<std::size_t>(options_.columns, left + 20) - left - 5) / (width + 3));
    const std::vector<std::int64_t> columns = shown(all_columns, fits);
    return heading(grid) + column_heads(grid, left, width, columns) +
           body(grid, left, width, rows, columns);
  }

  [[nodiscard]] std::string heading(std::int64_t grid) const {
    std::string text;
    for (const std::size_t d : others_) {
      text += (text.empty() ? "  " : ", ") + dim(d) + " " + range_text(at(grid, 0, 0).slice, d);
    }
    return text.empty() ? "" : text + "\n";
  }

  [[nodiscard]] std::string column_heads(std::int64_t grid, std::size_t left, std::size_t width,
                                         const std::vector<std::int64_t>& columns) const {
    if (!column_) {
      return "  " + (row_ ? dim(*row_) : "") + "\n";
    }
    std::string text = "  " + padded("", left) + "   " + dim(*column_) + "\n  " +
                       padded(row_ ? dim(*row_) : "", left) + "  ";
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool gap = i > 0 && columns[i] != columns[i - 1] + 1;
      text += " " + std::string(gap ? "... " : "") +
              padded(range_text(at(grid, 0, columns[i]).slice, *column_), width + 2);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  }

  [[nodiscard]] std::string rule(std::size_t left, std::size_t width,
                                 const std::vector<std::int64_t>& columns, std::size_t kind) const {
    constexpr std::array<std::array<const char*, 3>, 3> kLines = {
        {{"┌", "┬", "┐"}, {"├", "┼", "┤"}, {"└", "┴", "┘"}}};
    std::string text = "  " + padded("", left) + " ";
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool gap = i > 0 && columns[i] != columns[i - 1] + 1;
      text += options_.ascii ? "+" : kLines[kind][i == 0 ? 0 : 1];
      for (std::size_t n = 0; n < width + 2 + (gap ? 4 : 0); ++n) {
        text += options_.ascii ? "-" : "─";
      }
    }
    return text + (options_.ascii ? "+" : kLines[kind][2]) + "\n";
  }

  [[nodiscard]] std::string cell(const Block& block) const {
    return label(block) + (holds_rank(block, options_.rank) ? "*" : "");
  }

  [[nodiscard]] std::string body(std::int64_t grid, std::size_t left, std::size_t width,
                                 const std::vector<std::int64_t>& rows,
                                 const std::vector<std::int64_t>& columns) const {
    const std::string bar = options_.ascii ? "|" : "│";
    std::string text = rule(left, width, columns, 0);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const bool skipped = r > 0 && rows[r] != rows[r - 1] + 1;
      text += r > 0 ? rule(left, width, columns, 1) : "";
      text += skipped ? "  " + padded("...", left) + "\n" + rule(left, width, columns, 1) : "";
      const std::string range = row_ ? range_text(at(grid, rows[r], 0).slice, *row_) : "";
      text += "  " + padded(range, left) + " ";
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const bool gap = i > 0 && columns[i] != columns[i - 1] + 1;
        text += bar + " " + std::string(gap ? "... " : "") +
                padded(cell(at(grid, rows[r], columns[i])), width) + " ";
      }
      text += bar + "\n";
    }
    return text + rule(left, width, columns, 2);
  }

  [[nodiscard]] std::string legend() const {
    std::string text;
    if (!picture_.layout.partial.empty()) {
      text +=
          "\n  + : a pending sum over " + to_string(picture_.mesh, picture_.layout.partial) + "\n";
    }
    if (options_.rank) {
      const std::int64_t rank = *options_.rank;
      const Slice slice = slice_of(picture_.type.shape, picture_.layout, picture_.mesh, rank);
      text += "\n  rank " + std::to_string(rank) + " (*) at (";
      const std::vector<std::int64_t> at = picture_.mesh.coordinates(rank);
      for (std::size_t i = 0; i < at.size(); ++i) {
        text += (i == 0 ? "" : ", ") + picture_.mesh.axes[i].name + " " + std::to_string(at[i]);
      }
      text += ") holds";
      for (std::size_t d = 0; d < slice.extent.size(); ++d) {
        text += (d == 0 ? " " : ", ") + dim(d) + " " + range_text(slice, d);
      }
      text += slice.extent.empty() ? " all of it\n" : "\n";
    }
    return text;
  }

  const Picture& picture_;
  const PictureOptions& options_;
  Blocks blocks_;
  std::optional<std::size_t> row_;
  std::optional<std::size_t> column_;
  std::vector<std::size_t> others_;
};

}  // namespace

std::string picture_text(const Picture& picture, const PictureOptions& options) {
  const Shape& shape = picture.type.shape;
  const Shape local = local_shape(shape, picture.layout, picture.mesh);
  const std::int64_t bytes =
      local.volume() * static_cast<std::int64_t>(bytes_of(picture.type.dtype));
  std::string text = picture.name + "  " + to_string(picture.type) + " as " +
                     to_string(shape, picture.layout, picture.mesh) + " on " +
                     to_string(picture.mesh) + ", " + bytes_text(bytes) +
                     (picture.mesh.ranks() > 1 ? " a rank" : "") + "\n\n";
  if (picture.mesh.ranks() > kMostRanksShown) {
    return text + "  " + count_text(picture.mesh.ranks(), "rank") +
           " are too many for a picture; `:mesh` or `--mesh` takes smaller sizes\n";
  }
  return text + Grid(picture, options).run();
}

}  // namespace mtf
