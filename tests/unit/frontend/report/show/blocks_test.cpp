// Pictures of who holds what: what is drawn is what `slice_of` says.

#include "frontend/report/show/blocks.h"

#include <algorithm>
#include <map>
#include <random>
#include <sstream>

#include <catch2/catch.hpp>

namespace mtf {
namespace {

struct Drawn {
  Mesh mesh;
  Shape shape;
  ValueLayout layout;
};

// Any mesh of up to three axes, any split of up to three dims, sizes that need not divide.
Drawn draw(std::mt19937& random) {
  const auto upto = [&random](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(1, most)(random);
  };
  Drawn result;
  result.mesh = {.name = "m", .axes = {}, .profile = "", .span = {}, .uneven = true};
  const std::int64_t axes = upto(3);
  for (std::int64_t i = 0; i < axes; ++i) {
    result.mesh.axes.push_back(
        {.name = std::string(1, static_cast<char>('x' + i)), .size = upto(3)});
  }
  const std::int64_t rank = upto(3);
  std::vector<Dim> dims;
  for (std::int64_t i = 0; i < rank; ++i) {
    dims.push_back({.name = std::string(1, static_cast<char>('a' + i)), .size = upto(7)});
  }
  result.shape = Shape(std::move(dims));
  result.layout = replicated(result.shape);
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    const auto where = static_cast<std::size_t>(upto(rank + 2)) - 1;
    if (where < result.layout.dims.size()) {
      result.layout.dims[where].push_back(static_cast<AxisId>(axis));
    } else if (where == result.layout.dims.size()) {
      result.layout.partial.push_back(static_cast<AxisId>(axis));
    }
  }
  return result;
}

std::map<std::int64_t, Slice> drawn_slices(const Blocks& blocks) {
  std::map<std::int64_t, Slice> slices;
  for (const Block& block : blocks.list) {
    for (const std::vector<std::int64_t>& terms : block.holders) {
      for (const std::int64_t rank : terms) {
        CHECK(slices.emplace(rank, block.slice).second);
      }
    }
  }
  return slices;
}

// "0..2" as it is drawn.
std::string range(const Slice& slice, std::size_t dim) {
  return std::to_string(slice.offset[dim]) + ".." +
         std::to_string(slice.offset[dim] + slice.extent[dim]);
}

}  // namespace

TEST_CASE("every rank is in the block that it holds, and in no other") {
  std::mt19937 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const Drawn drawn = draw(random);
    const Blocks blocks = blocks_of(drawn.shape, drawn.layout, drawn.mesh);
    const std::map<std::int64_t, Slice> slices = drawn_slices(blocks);
    for (std::int64_t rank = 0; rank < drawn.mesh.ranks(); ++rank) {
      const Slice wanted = slice_of(drawn.shape, drawn.layout, drawn.mesh, rank);
      const bool holds_nothing = volume_of(wanted) == 0;
      const auto found = slices.find(rank);
      REQUIRE((found == slices.end()) == holds_nothing);
      CHECK((std::ranges::find(blocks.nothing, rank) != blocks.nothing.end()) == holds_nothing);
      if (!holds_nothing) {
        CHECK(found->second.offset == wanted.offset);
        CHECK(found->second.extent == wanted.extent);
      }
    }
    std::int64_t volume = 0;
    for (const Block& block : blocks.list) {
      volume += block.holders.empty() ? 0 : volume_of(block.slice);
    }
    CHECK(volume == drawn.shape.volume());
  }
}

TEST_CASE("the label of a rank stands in the row and the column of its slice") {
  const Shape shape({{.name = "a", .size = 7}, {.name = "b", .size = 8}});
  const Mesh mesh{.name = "m",
                  .axes = {{.name = "x", .size = 3}, {.name = "y", .size = 4}},
                  .profile = "",
                  .span = {},
                  .uneven = true};
  ValueLayout layout = replicated(shape);
  layout.dims = {{0}, {1}};
  const std::string text = picture_text(
      {.name = "t", .type = {.dtype = DType::kF32, .shape = shape}, .layout = layout, .mesh = mesh},
      {.ascii = true, .rank = std::nullopt, .columns = 80});
  std::istringstream lines(text);
  std::vector<std::string> columns;
  std::int64_t seen = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> cells;
    for (std::string word; words >> word;) {
      if (word != "|") {
        cells.push_back(word);
      }
    }
    if (!cells.empty() && cells.front() == "a") {
      columns = cells;
    } else if (!columns.empty() && cells.size() == columns.size()) {
      for (std::size_t i = 1; i < cells.size(); ++i, ++seen) {
        const Slice slice = slice_of(shape, layout, mesh, std::stoll(cells[i]));
        CHECK(range(slice, 0) == cells[0]);
        CHECK(range(slice, 1) == columns[i]);
      }
    }
  }
  CHECK(seen == mesh.ranks());
}

TEST_CASE("ranks are listed shortly") {
  CHECK(ranks_text({}).empty());
  CHECK(ranks_text({3}) == "3");
  CHECK(ranks_text({0, 1}) == "0,1");
  CHECK(ranks_text({0, 1, 2, 3}) == "0-3");
  CHECK(ranks_text({0, 4, 8, 12}) == "0,4,..,12");
  CHECK(ranks_text({0, 1, 2, 8, 9, 10}) == "0-2,8-10");
}

}  // namespace mtf
