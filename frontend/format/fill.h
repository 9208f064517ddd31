// Words and signs onto lines: a line is broken where the widest one allows, at the outermost
// bracket or operator first, and goes on under the first word inside that bracket.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mtf::layouting {

inline constexpr std::size_t kWidest = 100;
inline constexpr std::size_t kIndent = 2;

enum class Act : std::uint8_t {
  kText,
  kOpen,  // what follows, up to its `kClose`, goes on under this place
  kClose,
  kBreak,  // the line may end here; if it does not, `text` stands here
  kRemark  // a comment, which ends its line
};

struct Piece {
  Act act = Act::kText;
  std::string text;
  // Of `kOpen`: its contents begin on a line of their own, indented. Of `kClose`: its bracket
  // stands on a line of its own. Of `kBreak`, directly in one of those: the line does end.
  bool kept = false;
  bool behind = false;  // of `kRemark`: on the line of the word before it
};

struct Line {
  std::size_t indent = 0;
  std::string text;
  std::string remark;  // a comment behind the text
};

[[nodiscard]] std::size_t width_of(const Line& line);  // without its remark

// Goes on with the last line. What belongs to no bracket goes on at `indent`.
void fill(std::span<const Piece> pieces, std::size_t indent, std::vector<Line>& lines);

}  // namespace mtf::layouting
