// Which dims of a tensor go down and which go across, and the sheet that comes of it.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/report/show/blocks.h"
#include "frontend/report/show/sheet.h"

namespace mtf {

// Dims by their places; of the others there is a sheet for each of their blocks.
struct Placing {
  std::vector<std::size_t> rows;
  std::vector<std::size_t> columns;
  std::vector<std::size_t> others;
};

// The rank that a picture marks: on a mesh of many always one, as the picture alone says little.
[[nodiscard]] std::optional<std::int64_t> marked_rank(const Mesh& mesh,
                                                      const PictureOptions& options);

// In how many blocks some dims are cut.
[[nodiscard]] std::int64_t blocks_along(const Blocks& blocks, const std::vector<std::size_t>& dims);

// The sheet of one block of the others, which have so many. `widest`: of a label.
[[nodiscard]] Sheet sheet_of(const Picture& picture, const Blocks& blocks, const Placing& placing,
                             std::int64_t other, std::optional<std::int64_t> rank,
                             std::size_t widest);

// "batch 0..4, heads 3..6", of the block of the others that a sheet is of.
[[nodiscard]] std::string heading_of(const Picture& picture, const Blocks& blocks,
                                     const Placing& placing, std::int64_t other);

// "32..64", or "none".
[[nodiscard]] std::string extent_text(const Slice& slice, std::size_t dim);
// "batch 0..32, io 0..8"; unless `whole`, dims of which a slice has all are left out.
[[nodiscard]] std::string box_text(const Shape& shape, const Slice& slice, bool whole);

// What a sum is of, and what one rank has.
[[nodiscard]] std::string legend_of(const Picture& picture, std::optional<std::int64_t> rank,
                                    std::size_t columns);

// A line, which goes on below where it is longer.
[[nodiscard]] std::string fitted_line(const std::string& line, std::size_t indent,
                                      std::size_t columns);

}  // namespace mtf
