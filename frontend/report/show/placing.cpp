#include "frontend/report/show/placing.h"

#include <algorithm>

#include "ir/support/columns.h"

namespace mtf {
namespace {

constexpr std::size_t kMostTerms = 4;

// "0-3", of partial sums "0+1 2+3", of nobody "-".
std::string label_of_block(const Block& block, std::size_t widest) {
  std::vector<std::int64_t> single;
  std::string sums;
  for (const std::vector<std::int64_t>& terms : block.holders) {
    if (terms.size() == 1) {
      single.push_back(terms.front());
      continue;
    }
    std::string sum;
    for (const std::int64_t term : terms) {
      sum += (sum.empty() ? "" : "+") + std::to_string(term);
    }
    if (terms.size() > kMostTerms) {
      sum = std::to_string(terms.front()) + "+..+" + std::to_string(terms.back());
    }
    sums += (sums.empty() ? "" : " ") + sum;
  }
  std::string text = sums.empty() ? ranks_text(single) : sums;
  if (text.size() > widest) {
    text = text.substr(0, widest - 2) + "..";
  }
  return text.empty() ? "-" : text;
}

bool is_held_by(const Block& block, std::optional<std::int64_t> rank) {
  return rank && std::ranges::any_of(block.holders, [&](const std::vector<std::int64_t>& terms) {
           return std::ranges::find(terms, *rank) != terms.end();
         });
}

// Puts the number of a block of some dims into the indices of all, the last dim fastest.
void spread(const Blocks& blocks, const std::vector<std::size_t>& dims, std::int64_t number,
            std::vector<std::int64_t>& index) {
  for (std::size_t i = dims.size(); i-- > 0;) {
    index[dims[i]] = number % blocks.parts[dims[i]];
    number /= blocks.parts[dims[i]];
  }
}

const Block& block_at(const Blocks& blocks, const std::vector<std::int64_t>& index) {
  std::int64_t place = 0;
  for (std::size_t d = 0; d < index.size(); ++d) {
    place = place * blocks.parts[d] + index[d];
  }
  return blocks.list[static_cast<std::size_t>(place)];
}

// Of some dims those that are split, or all where none is.
std::vector<std::size_t> named_dims(const Blocks& blocks, const std::vector<std::size_t>& dims) {
  std::vector<std::size_t> split;
  std::ranges::copy_if(dims, std::back_inserter(split),
                       [&](std::size_t d) { return blocks.parts[d] > 1; });
  return split.empty() ? dims : split;
}

std::string names_text(const Shape& shape, const std::vector<std::size_t>& dims) {
  std::string text;
  for (const std::size_t d : dims) {
    text += (text.empty() ? "" : ", ") + shape[d].name;
  }
  return text;
}

// "0..32"; of several dims "0..32, 8..16", in the order of their names.
std::string ranges_text(const Slice& slice, const std::vector<std::size_t>& dims) {
  std::string text;
  for (const std::size_t d : dims) {
    text += (text.empty() ? "" : ", ") + extent_text(slice, d);
  }
  return text;
}

std::optional<AxisId> axis_of(const Picture& picture, const std::vector<std::size_t>& dims) {
  for (const std::size_t d : dims) {
    if (!picture.layout.dims[d].empty()) {
      return picture.layout.dims[d].front();
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> marked_rank(const Mesh& mesh, const PictureOptions& options) {
  constexpr std::int64_t kMany = 64;
  return options.rank || mesh.ranks() <= kMany ? options.rank : 0;
}

std::int64_t blocks_along(const Blocks& blocks, const std::vector<std::size_t>& dims) {
  std::int64_t count = 1;
  for (const std::size_t d : dims) {
    count *= blocks.parts[d];
  }
  return count;
}

Sheet sheet_of(const Picture& picture, const Blocks& blocks, const Placing& placing,
               std::int64_t other, std::optional<std::int64_t> rank, std::size_t widest) {
  const std::vector<std::size_t> rows = named_dims(blocks, placing.rows);
  const std::vector<std::size_t> columns = named_dims(blocks, placing.columns);
  Sheet sheet;
  sheet.row_name = names_text(picture.type.shape, rows);
  sheet.column_name = names_text(picture.type.shape, columns);
  sheet.row_axis = axis_of(picture, rows);
  sheet.column_axis = axis_of(picture, columns);
  std::vector<std::int64_t> index(blocks.parts.size(), 0);
  spread(blocks, placing.others, other, index);
  for (std::int64_t r = 0; r < blocks_along(blocks, placing.rows); ++r) {
    spread(blocks, placing.rows, r, index);
    std::vector<std::string>& cells = sheet.cells.emplace_back();
    for (std::int64_t c = 0; c < blocks_along(blocks, placing.columns); ++c) {
      spread(blocks, placing.columns, c, index);
      const Block& block = block_at(blocks, index);
      cells.push_back(label_of_block(block, widest) + (is_held_by(block, rank) ? "*" : ""));
      if (c == 0) {
        sheet.row_heads.push_back(ranges_text(block.slice, rows));
      }
      if (r == 0) {
        sheet.column_heads.push_back(ranges_text(block.slice, columns));
      }
    }
  }
  return sheet;
}

std::string heading_of(const Picture& picture, const Blocks& blocks, const Placing& placing,
                       std::int64_t other) {
  std::vector<std::int64_t> index(blocks.parts.size(), 0);
  spread(blocks, placing.others, other, index);
  const Block& block = block_at(blocks, index);
  std::string text;
  for (const std::size_t d : named_dims(blocks, placing.others)) {
    const std::string range = picture.type.shape[d].name + " " + extent_text(block.slice, d);
    text += (text.empty() ? "" : ", ") + marked(range, axis_of(picture, {d}));
  }
  return text;
}

std::string extent_text(const Slice& slice, std::size_t dim) {
  const Interval here = slice.along(dim);
  return here.empty() ? "none" : std::to_string(here.begin) + ".." + std::to_string(here.end());
}

std::string box_text(const Shape& shape, const Slice& slice, bool whole) {
  std::string text;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if (whole || slice.extent[d] != shape[d].size) {
      text += (text.empty() ? "" : ", ") + shape[d].name + " " + extent_text(slice, d);
    }
  }
  return text.empty() ? "all of it" : text;
}

std::string fitted_line(const std::string& line, std::size_t indent, std::size_t columns) {
  return in_columns(std::vector<Row>{Row{line}}, {.indent = indent, .width = columns});
}

std::string legend_of(const Picture& picture, std::optional<std::int64_t> rank,
                      std::size_t columns) {
  std::string text;
  if (!picture.layout.partial.empty()) {
    text += "\n  + : a partial sum over " + to_string(picture.mesh, picture.layout.partial) + "\n";
  }
  if (!rank) {
    return text;
  }
  const Slice slice = slice_of(picture.type.shape, picture.layout, picture.mesh, *rank);
  const std::vector<std::int64_t> at = picture.mesh.coordinates(*rank);
  std::string line = "rank " + std::to_string(*rank) + " (*) at (";
  for (std::size_t i = 0; i < at.size(); ++i) {
    line += (i == 0 ? "" : ", ") + picture.mesh.axes[i].name + " " + std::to_string(at[i]);
  }
  line += ") holds " + box_text(picture.type.shape, slice, /*whole=*/true);
  text += "\n" + fitted_line(line, 2, columns);
  if (volume_of(slice) == 0) {
    return text;
  }
  const auto others = [&](std::vector<std::int64_t> ranks) {
    std::erase(ranks, *rank);
    return ranks_text(ranks);
  };
  const Replicas group = replicas_of(picture.layout, picture.mesh, *rank);
  if (group.same.size() > 1) {
    text += fitted_line("the same is held by " + others(group.same), 2, columns);
  }
  if (group.terms.size() > 1) {
    text += fitted_line("it is to be added to what " + others(group.terms) + " hold", 2, columns);
  }
  return text;
}

}  // namespace mtf
