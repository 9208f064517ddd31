#include "frontend/format/fill.h"

#include <algorithm>

#include "ir/support/utf8.h"

namespace mtf::layouting {
namespace {

// Where a piece stands if all are on one line, and how many brackets are around it.
struct Spot {
  std::size_t depth = 0;
  std::size_t column = 0;
};

std::vector<Spot> spots_of(std::span<const Piece> pieces) {
  std::vector<Spot> spots;
  Spot spot{.depth = 1, .column = 0};
  for (const Piece& piece : pieces) {
    spot.depth += piece.act == Act::kOpen ? 1 : 0;
    spots.push_back(spot);
    spot.column += piece.act == Act::kRemark ? 0 : display_width(piece.text);
    spot.depth -= piece.act == Act::kClose ? 1 : 0;
  }
  spots.push_back({.depth = 0, .column = spot.column});
  return spots;
}

// For each place where a line may end: the columns up to the next such place in the same bracket or
// one around it, which must fit, if the line is to go on.
std::vector<std::size_t> reaches_of(std::span<const Piece> pieces) {
  const std::vector<Spot> spots = spots_of(pieces);
  std::vector<std::size_t> reaches(pieces.size());
  std::vector<Spot> stops = {spots.back()};
  for (std::size_t i = pieces.size(); i-- > 0;) {
    const Piece& piece = pieces[i];
    const bool ends_line = piece.act == Act::kRemark || (piece.act == Act::kOpen && piece.kept);
    if (!ends_line && piece.act != Act::kBreak) {
      continue;
    }
    const Spot spot{.depth = ends_line ? 0 : spots[i].depth, .column = spots[i].column};
    while (stops.back().depth > spot.depth) {
      stops.pop_back();
    }
    reaches[i] = stops.back().column - spot.column;
    stops.push_back(spot);
  }
  return reaches;
}

class Filler {
 public:
  Filler(std::size_t indent, std::vector<Line>& lines)
      : lines_(lines), column_(width_of(lines.back())) {
    levels_.push_back({.indent = indent, .base = indent, .kept = false});
  }

  void put(const Piece& piece, std::size_t reach) {
    switch (piece.act) {
      case Act::kText:
        text(piece.text);
        return;
      case Act::kOpen:
        open(piece);
        return;
      case Act::kClose:
        if (piece.kept && levels_.back().kept) {
          new_line(levels_.back().base);
        }
        levels_.pop_back();
        return;
      case Act::kBreak:
        may_end(piece, reach);
        return;
      case Act::kRemark:
        remark(piece);
        return;
    }
  }

 private:
  struct Level {
    std::size_t indent = 0;
    std::size_t base = 0;  // of the line that the bracket stands on
    bool kept = false;
  };

  void text(std::string_view words) {
    if (must_end_) {
      new_line(levels_.back().indent);
    }
    const bool starts = lines_.back().text.empty();
    words.remove_prefix(starts ? std::min(words.find_first_not_of(' '), words.size()) : 0);
    lines_.back().text += words;
    column_ += display_width(words);
  }

  void open(const Piece& piece) {
    const std::size_t base = lines_.back().indent;
    if (piece.kept) {
      levels_.push_back({.indent = base + kIndent, .base = base, .kept = true});
      must_end_ = true;
      return;
    }
    const std::size_t here = must_end_ ? levels_.back().indent : column_;
    levels_.push_back({.indent = here, .base = base, .kept = false});
  }

  void may_end(const Piece& piece, std::size_t reach) {
    const Level& level = levels_.back();
    const bool ends =
        (piece.kept && level.kept) || (column_ + reach > kWidest && level.indent < column_);
    if (must_end_ || ends) {
      new_line(level.indent);
    } else {
      text(piece.text);
    }
  }

  void remark(const Piece& piece) {
    if (piece.behind && lines_.back().remark.empty()) {
      lines_.back().remark = piece.text;
    } else {
      new_line(levels_.back().indent);
      lines_.back().text = piece.text;
    }
    must_end_ = true;
  }

  void new_line(std::size_t indent) {
    must_end_ = false;
    column_ = indent;
    if (lines_.back().text.empty() && lines_.back().remark.empty()) {
      lines_.back().indent = indent;  // it has only begun
      return;
    }
    lines_.push_back({.indent = indent, .text = {}, .remark = {}});
  }

  std::vector<Line>& lines_;
  std::size_t column_ = 0;
  bool must_end_ = false;  // a comment is behind what comes next
  std::vector<Level> levels_;
};

}  // namespace

std::size_t width_of(const Line& line) {
  return line.indent + display_width(line.text);
}

void fill(std::span<const Piece> pieces, std::size_t indent, std::vector<Line>& lines) {
  const std::vector<std::size_t> reaches = reaches_of(pieces);
  Filler filler(indent, lines);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    filler.put(pieces[i], reaches[i]);
  }
}

}  // namespace mtf::layouting
