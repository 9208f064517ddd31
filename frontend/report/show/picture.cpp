// A tensor as grids of blocks: rows are blocks of one dim, columns of another, and where three or
// more dims are split there is a grid for each block of the others. A mesh in the same way.

#include <algorithm>

#include "frontend/report/quantity.h"
#include "frontend/report/show/placing.h"
#include "frontend/report/show/shown.h"

namespace mtf {
namespace {

constexpr std::size_t kMostGrids = 4;
constexpr std::size_t kMostLabel = 24;

// The last two dims that are split make the grid; of one alone, its blocks stand side by side.
Placing placing_of(const Blocks& blocks) {
  std::vector<std::size_t> split;
  for (std::size_t d = 0; d < blocks.parts.size(); ++d) {
    if (blocks.parts[d] > 1) {
      split.push_back(d);
    }
  }
  Placing placing;
  if (!split.empty()) {
    const bool is_row = split.size() == 1 && split.front() == 0 && blocks.parts.size() > 1;
    (is_row ? placing.rows : placing.columns) = {split.back()};
    split.pop_back();
  }
  if (!split.empty()) {
    placing.rows = {split.back()};
    split.pop_back();
  }
  placing.others = std::move(split);
  return placing;
}

void add_lines(std::string& text, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    text += line + "\n";
  }
}

// One below the other: of many the first ones, and the last.
template <typename Draw>
std::string grids_text(std::int64_t count, const Draw& draw) {
  std::string text;
  for (const std::int64_t grid : first_and_last(count, kMostGrids)) {
    const bool skipped = grid == count - 1 && count > static_cast<std::int64_t>(kMostGrids);
    text += (text.empty() ? "" : "\n") + std::string(skipped ? "  ...\n\n" : "");
    text += draw(grid);
  }
  return text;
}

std::string blocks_text(const Picture& picture, const PictureOptions& options,
                        std::optional<std::int64_t> rank) {
  const Blocks blocks = blocks_of(picture.type.shape, picture.layout, picture.mesh);
  const Placing placing = placing_of(blocks);
  std::string text;
  if (blocks.list.size() == 1) {
    text = "  every rank that holds it has all of it: " +
           sheet_of(picture, blocks, placing, 0, rank, kMostLabel).cells.front().front() + "\n";
  } else {
    text = grids_text(blocks_along(blocks, placing.others), [&](std::int64_t grid) {
      const std::string heading = heading_of(picture, blocks, placing, grid);
      std::string lines = heading.empty() ? "" : "  " + heading + "\n";
      add_lines(lines, lines_of(sheet_of(picture, blocks, placing, grid, rank, kMostLabel),
                                {.ascii = options.ascii, .columns = options.columns}));
      return lines;
    });
  }
  return text + (blocks.nothing.empty()
                     ? ""
                     : "\n  nothing is held by " + ranks_text(blocks.nothing) + "\n");
}

}  // namespace

std::string picture_text(const Picture& picture, const PictureOptions& options) {
  const Shape& shape = picture.type.shape;
  const Mesh& mesh = picture.mesh;
  const Shape local = local_shape(shape, picture.layout, mesh);
  const std::int64_t bytes =
      local.volume() * static_cast<std::int64_t>(bytes_of(picture.type.dtype));
  const std::string title = picture.name + "  " + to_string(picture.type) + " as " +
                            to_string(shape, picture.layout, mesh) + " on " +
                            (mesh.axes.empty() ? "one rank" : to_string(mesh)) + ", " +
                            bytes_text(bytes) + (mesh.ranks() > 1 ? " a rank" : "");
  std::string text = fitted_line(title, 0, options.columns) + "\n";
  const std::optional<std::int64_t> rank = marked_rank(mesh, options);
  text += mesh.ranks() > kMostRanksShown
              ? "  " + count_text(mesh.ranks(), "rank") + " are too many to draw them all\n"
              : blocks_text(picture, options, rank);
  return colored(text + legend_of(picture, rank, options.columns), options.color);
}

namespace {

// The ranks at one place along all axes but the last two.
Sheet sheet_of_mesh(const Mesh& mesh, std::int64_t grid, std::optional<std::int64_t> rank) {
  Sheet sheet;
  const std::size_t axes = mesh.axes.size();
  const std::int64_t columns = axes > 0 ? mesh.axes[axes - 1].size : 1;
  const std::int64_t rows = axes > 1 ? mesh.axes[axes - 2].size : 1;
  if (axes > 0) {
    sheet.column_name = mesh.axes[axes - 1].name;
    sheet.column_axis = static_cast<AxisId>(axes - 1);
  }
  if (axes > 1) {
    sheet.row_name = mesh.axes[axes - 2].name;
    sheet.row_axis = static_cast<AxisId>(axes - 2);
  }
  for (std::int64_t column = 0; column < columns; ++column) {
    sheet.column_heads.push_back(std::to_string(column));
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    sheet.row_heads.push_back(axes > 1 ? std::to_string(row) : "");
    std::vector<std::string>& cells = sheet.cells.emplace_back();
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::int64_t number = (grid * rows + row) * columns + column;
      cells.push_back(std::to_string(number) + (number == rank ? "*" : ""));
    }
  }
  return sheet;
}

std::string heading_of_mesh(const Mesh& mesh, std::int64_t grid) {
  std::string text;
  for (std::size_t i = mesh.axes.size() < 2 ? 0 : mesh.axes.size() - 2; i-- > 0;) {
    const std::string place = mesh.axes[i].name + " " + std::to_string(grid % mesh.axes[i].size);
    grid /= mesh.axes[i].size;
    text = marked(place, static_cast<AxisId>(i)) + (text.empty() ? "" : ", ") + text;
  }
  return text;
}

}  // namespace

std::string mesh_picture_text(const Mesh& mesh, const PictureOptions& options) {
  std::string text = to_string(mesh) + ", " + count_text(mesh.ranks(), "rank") + "\n\n";
  if (mesh.ranks() > kMostRanksShown) {
    return text + "  they are too many to draw them all\n";
  }
  const std::size_t axes = mesh.axes.size();
  const std::int64_t drawn =
      (axes > 0 ? mesh.axes[axes - 1].size : 1) * (axes > 1 ? mesh.axes[axes - 2].size : 1);
  text += grids_text(mesh.ranks() / drawn, [&](std::int64_t grid) {
    const std::string heading = heading_of_mesh(mesh, grid);
    std::string lines = heading.empty() ? "" : "  " + heading + "\n";
    add_lines(lines, lines_of(sheet_of_mesh(mesh, grid, options.rank),
                              {.ascii = options.ascii, .columns = options.columns}));
    return lines;
  });
  if (options.rank) {
    const std::vector<std::int64_t> at = mesh.coordinates(*options.rank);
    text += "\n  rank " + std::to_string(*options.rank) + " (*) is at (";
    for (std::size_t i = 0; i < at.size(); ++i) {
      text += (i == 0 ? "" : ", ") + mesh.axes[i].name + " " + std::to_string(at[i]);
    }
    text += ")\n";
  }
  return colored(text, options.color);
}

}  // namespace mtf
