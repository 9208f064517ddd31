// A statement's words and signs as pieces for `fill`: which of them blanks part, where a line may
// end, and the comments among them.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/format/fill.h"
#include "frontend/parse/written.h"

namespace mtf::layouting {

// Blanks before the word that begins there, so that columns of neighbours agree.
using Pads = std::map<std::uint32_t, std::size_t>;

class Pieces {
 public:
  // `begin`: the end of what is written already.
  Pieces(std::string_view source, const Pads& pads, std::uint32_t begin)
      : source_(source), pads_(pads), end_(begin) {}

  // A child of `parent`, with all that is in it; blocks and rules on the same line.
  void add(const Written& child, const Written& parent);
  void add_break(std::string_view sign);  // `sign` stands there if the line goes on

  // What has come since it was asked last.
  [[nodiscard]] std::vector<Piece> take();
  // Of the last word.
  [[nodiscard]] std::uint32_t end() const { return end_; }
  // The word before was written by someone else, who ends there.
  void go_on_behind(std::uint32_t end) { end_ = end; }

 private:
  void token(const Written& leaf, const Written& parent);
  void word(std::string_view text, const Written& leaf);
  void open_bracket(const Written& leaf);
  void close_bracket(const Written& leaf);
  void all(const Written& node);
  void assignment(const Written& node);
  void arguments(const Written& node);
  void body(const Written& node);
  void chain(const Written& expr, std::size_t begin, std::size_t end);
  void group(Act act, bool kept = false);
  void remarks(std::uint32_t end);
  [[nodiscard]] bool line_ends_before(std::uint32_t next) const;

  std::string_view source_;
  const Pads& pads_;
  std::uint32_t end_ = 0;
  bool glued_ = true;  // to the word before
  std::vector<Piece> pieces_;
};

[[nodiscard]] bool is_body(const Written& node);  // `{ … }`
[[nodiscard]] bool is_token(const Written& node, std::string_view source, std::string_view text);

}  // namespace mtf::layouting
