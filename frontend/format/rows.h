// The lines of a list of statements or rules, before their words are laid out, and the columns that
// neighbours share.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "frontend/format/pieces.h"

namespace mtf::layouting {

// A statement, or rules as they stand on a line with the signs between them.
struct Row {
  std::vector<const Written*> parts;
  bool behind_semicolon = false;

  [[nodiscard]] std::uint32_t begin() const { return parts.front()->begin; }
  [[nodiscard]] std::uint32_t end() const { return parts.back()->end; }
};

// Of a file, a block, or the rules of a layout or an `expect`.
[[nodiscard]] std::vector<Row> rows_of(const Written& list, std::string_view source);

// The bodies `{ … }` that the row ends or goes on with; none if it has only expressions.
[[nodiscard]] std::vector<const Written*> bodies_of(const Row& row);

// How many of the rows, from the first, have their columns aligned: params and states with types,
// layouts, `at "…"`. At least 1.
[[nodiscard]] std::size_t count_aligned(std::span<const Row> rows, std::string_view source);
// The blanks that do it.
[[nodiscard]] Pads aligned(std::span<const Row> rows, std::string_view source);

}  // namespace mtf::layouting
