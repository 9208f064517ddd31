// Statements onto lines: one a line, blocks indented; a block that was on one line stays there if
// it fits.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "frontend/format/pieces.h"
#include "frontend/format/rows.h"

namespace mtf::layouting {

class Layouter {
 public:
  explicit Layouter(std::string_view source) : source_(source) {}

  [[nodiscard]] std::vector<Line> file(const Written& tree);

 private:
  struct State {
    std::size_t lines = 0;
    Line last;
    std::uint32_t end = 0;
  };

  void rows(const Written& list, std::size_t indent, bool goes_on);
  void run(std::span<const Row> rows, const Written& list, std::size_t indent, bool first,
           bool goes_on);
  void neighbours(std::span<const Row> rows, const Written& list, std::size_t indent, bool first,
                  bool goes_on);
  void row(const Row& row, const Written& list, std::size_t indent);
  [[nodiscard]] bool one_line(const Row& row, const Written& list, std::size_t indent);
  void spread(const Written& node, Pieces& pieces, std::size_t indent);
  void expand(const Written& body, std::size_t indent);
  void close(const Written& body, std::size_t indent, bool hanging);
  void before_else(const Written& word, Pieces& pieces, std::size_t indent);
  bool gap(std::uint32_t next, std::size_t indent, bool first);
  void new_line(std::size_t indent);
  void flush(Pieces& pieces, std::size_t indent);

  [[nodiscard]] State state() const;
  void back_to(const State& state);
  [[nodiscard]] std::size_t widest_since(const State& state) const;

  std::string_view source_;
  std::vector<Line> lines_ = {{}};
  Pads pads_;
  std::size_t hang_ = 0;   // how much further in a row goes on
  std::uint32_t end_ = 0;  // of what is written
};

}  // namespace mtf::layouting
