// A product as the appendix of the Mesh-TensorFlow paper draws it: the summed dims meet between the
// operands, and a rank holds that block of the result which its blocks of the operands make.

#include <algorithm>
#include <iterator>

#include "frontend/report/show/shown.h"
#include "ir/support/utf8.h"

namespace mtf {
namespace {

constexpr std::size_t kMostOfOthers = 2;
constexpr std::size_t kWidestLabel = 12;
constexpr std::size_t kGapBetween = 2;

struct DrawnSide {
  const ProductSide* side = nullptr;
  Blocks blocks;
  Sheet sheet;
};

// The lines of one block of the dims that all three have.
class ProductDrawing {
 public:
  ProductDrawing(const ProductPicture& product, const PictureOptions& options)
      : options_(options),
        left_(side_of(product.left)),
        right_(side_of(product.right)),
        result_(side_of(product.result)) {}

  [[nodiscard]] std::int64_t count() const {
    return blocks_along(result_.blocks, result_.side->placing.others);
  }

  std::string text(std::int64_t other) {
    for (DrawnSide* side : {&left_, &right_, &result_}) {
      side->sheet = sheet_of(side->side->picture, side->blocks, side->side->placing, other,
                             options_.rank, kWidestLabel);
    }
    const std::string heading =
        heading_of(result_.side->picture, result_.blocks, result_.side->placing, other);
    std::vector<std::string> lines = side_by_side();
    const bool fits = std::ranges::all_of(
        lines, [&](const std::string& line) { return display_width(line) <= options_.columns; });
    std::string text = heading.empty() ? "" : "  " + heading + "\n";
    for (const std::string& line : fits ? lines : one_below_the_other()) {
      text += line + "\n";
    }
    return text;
  }

 private:
  static std::vector<std::string> drawn(DrawnSide& side, const SheetStyle& style) {
    const Picture& picture = side.side->picture;
    side.sheet.title = shortened(picture.name + "  " + to_string(picture.type),
                                 std::max<std::size_t>(style.columns, 20) - 4);
    return lines_of(side.sheet, style);
  }

  // The second operand stands above the result, column by column.
  std::vector<std::string> side_by_side() {
    const std::vector<std::string> left =
        drawn(left_, {.ascii = options_.ascii, .columns = options_.columns / 2, .least = 2});
    std::size_t width = 0;
    for (const std::string& line : left) {
      width = std::max(width, display_width(line) + kGapBetween);
    }
    const SheetStyle beside = {
        .ascii = options_.ascii,
        .columns = options_.columns - std::min(width, options_.columns),
        .head = std::max(head_width(right_.sheet), head_width(result_.sheet)),
        .cell = std::max({SheetStyle().cell, cell_width(right_.sheet), cell_width(result_.sheet)}),
        .least = 2};
    std::vector<std::string> lines;
    for (const std::string& line : drawn(right_, beside)) {
      lines.push_back(std::string(width, ' ') + line);
    }
    const std::vector<std::string> result = drawn(result_, beside);
    for (std::size_t i = 0; i < std::max(left.size(), result.size()); ++i) {
      std::string line =
          filled(i < left.size() ? left[i] : "", width) + (i < result.size() ? result[i] : "");
      line.erase(line.find_last_not_of(' ') + 1);
      lines.push_back(std::move(line));
    }
    return lines;
  }

  std::vector<std::string> one_below_the_other() {
    std::vector<std::string> lines;
    for (DrawnSide* side : {&left_, &right_, &result_}) {
      std::ranges::move(drawn(*side, {.ascii = options_.ascii, .columns = options_.columns}),
                        std::back_inserter(lines));
      if (side != &result_) {
        lines.emplace_back();
      }
    }
    return lines;
  }

  static DrawnSide side_of(const ProductSide& side) {
    return {.side = &side,
            .blocks = blocks_of(side.picture.type.shape, side.picture.layout, side.picture.mesh),
            .sheet = {}};
  }

  const PictureOptions& options_;
  DrawnSide left_;
  DrawnSide right_;
  DrawnSide result_;
};

std::string rank_text(const ProductPicture& product, std::int64_t rank, std::size_t columns) {
  std::string line;
  for (const ProductSide* side : {&product.left, &product.right, &product.result}) {
    const Picture& picture = side->picture;
    const Slice slice = slice_of(picture.type.shape, picture.layout, picture.mesh, rank);
    line += (line.empty() ? "rank " + std::to_string(rank) + " (*) has " : "; ") + picture.name +
            ": " + box_text(picture.type.shape, slice, /*whole=*/false);
  }
  return "\n" + fitted_line(line, 2, columns);
}

}  // namespace

std::string product_text(const ProductPicture& product, const PictureOptions& chosen) {
  const Picture& result = product.result.picture;
  PictureOptions options = chosen;
  options.rank = marked_rank(result.mesh, chosen);
  const std::string title = result.name + " = " + product.text + " on " + to_string(result.mesh);
  std::string text = fitted_line(title, 0, options.columns) + "\n";
  if (result.mesh.ranks() > kMostRanksShown) {
    text += "  its ranks are too many to draw them all\n";
    return text + rank_text(product, options.rank.value_or(0), options.columns);
  }
  ProductDrawing drawing(product, options);
  const std::int64_t count = drawing.count();
  for (std::int64_t other = 0; other < std::min<std::int64_t>(count, kMostOfOthers); ++other) {
    text += (other == 0 ? "" : "\n") + drawing.text(other);
  }
  if (count > static_cast<std::int64_t>(kMostOfOthers)) {
    text += "\n  ... and so on, " + std::to_string(count) + " times in all\n";
  }
  text += legend_of(result, std::nullopt, options.columns);
  text += options.rank ? rank_text(product, *options.rank, options.columns) : "";
  return colored(text, options.color);
}

}  // namespace mtf
