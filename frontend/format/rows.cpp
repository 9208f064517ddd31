#include "frontend/format/rows.h"

#include <algorithm>

#include "frontend/format/gaps.h"
#include "ir/support/utf8.h"

namespace mtf::layouting {
namespace {

bool has_line_end(std::string_view source, std::uint32_t begin, std::uint32_t end) {
  return begin < end && source.substr(begin, end - begin).find('\n') != std::string_view::npos;
}

// The node that says what a row is: of a statement, what kind of one.
const Written& subject_of(const Written& part) {
  return part.form == Form::kStatement ? part.children.front() : part;
}

const Written* find_token(const Written& node, std::string_view source, std::string_view text) {
  const auto found = std::ranges::find_if(
      node.children, [&](const Written& child) { return is_token(child, source, text); });
  return found == node.children.end() ? nullptr : &*found;
}

const Written* find_body(const Written& node) {
  const auto found = std::ranges::find_if(node.children, is_body);
  return found == node.children.end() ? nullptr : &*found;
}

// The words that begin the columns after the first one; none: the row shares no columns.
std::vector<const Written*> column_starts(const Row& row, std::string_view source) {
  const Written& node = subject_of(*row.parts.front());
  std::vector<const Written*> starts;
  if (row.parts.size() > 1) {
    return starts;
  }
  switch (node.form) {
    case Form::kVariable:
      starts = {find_token(node, source, ":"), find_token(node, source, "=")};
      break;
    case Form::kLayout:
      starts = {find_body(node) == nullptr ? nullptr : find_token(node, source, "on")};
      break;
    case Form::kLayoutItem:
      starts = {find_body(node)};
      break;
    default:
      break;
  }
  const bool any = !starts.empty() && starts.front() != nullptr;
  std::erase(starts, nullptr);
  return any ? starts : std::vector<const Written*>{};
}

// The columns that the words before each start fill, on one line; empty if a comment is in between.
std::vector<std::size_t> cell_widths(const Row& row, std::string_view source) {
  const Written& node = subject_of(*row.parts.front());
  const std::vector<const Written*> starts = column_starts(row, source);
  const Pads none;
  Pieces pieces(source, none, row.begin());
  std::vector<std::size_t> widths;
  std::size_t width = 0;
  for (const Written& child : node.children) {
    if (widths.size() < starts.size() && &child == starts[widths.size()]) {
      widths.push_back(width);
      width = 0;
    }
    if (widths.size() == starts.size()) {
      return widths;
    }
    pieces.add(child, node);
    for (const Piece& piece : pieces.take()) {
      if (piece.act == Act::kRemark) {
        return {};
      }
      width += display_width(piece.text);
    }
  }
  return widths;
}

bool are_neighbours(const Row& above, const Row& below, std::string_view source) {
  const Gap gap = gap_of(source, above.end(), below.begin());
  return !gap.apart && std::ranges::all_of(gap.comments, &Comment::behind);
}

// Rules keep the lines that they were written on.
bool ends_row(const Written& sign, const Written& list, std::string_view source) {
  if (list.form == Form::kFile || list.form == Form::kBlock) {
    return true;
  }
  const bool at_line_end = sign.begin == sign.end;
  return at_line_end || has_line_end(source, sign.end, next_word(source, sign.end)) ||
         has_line_end(source, sign.begin, sign.begin);
}

}  // namespace

std::vector<Row> rows_of(const Written& list, std::string_view source) {
  std::vector<Row> rows;
  bool fresh = true;
  bool behind_semicolon = false;
  for (const Written& child : list.children) {
    if (is_token(child, source, "{") || is_token(child, source, "}")) {
      continue;
    }
    const bool separator = child.form == Form::kSeparator;
    if (separator && (fresh || ends_row(child, list, source))) {
      fresh = true;
      behind_semicolon = child.begin < child.end;
      continue;
    }
    if (fresh) {
      rows.push_back({.parts = {}, .behind_semicolon = behind_semicolon});
    }
    rows.back().parts.push_back(&child);
    fresh = is_token(child, source, ",") && ends_row(child, list, source);
    behind_semicolon = false;
  }
  return rows;
}

std::vector<const Written*> bodies_of(const Row& row) {
  std::vector<const Written*> bodies;
  for (const Written* part : row.parts) {
    for (const Written& child : subject_of(*part).children) {
      if (is_body(child)) {
        bodies.push_back(&child);
      }
    }
  }
  return bodies;
}

std::size_t count_aligned(std::span<const Row> rows, std::string_view source) {
  const Form form = subject_of(*rows.front().parts.front()).form;
  std::size_t count = 0;
  while (count < rows.size() && subject_of(*rows[count].parts.front()).form == form &&
         !cell_widths(rows[count], source).empty() &&
         (count == 0 || are_neighbours(rows[count - 1], rows[count], source))) {
    ++count;
  }
  return std::max<std::size_t>(count, 1);
}

Pads aligned(std::span<const Row> rows, std::string_view source) {
  std::vector<std::size_t> widest;
  for (const Row& row : rows) {
    const std::vector<std::size_t> widths = cell_widths(row, source);
    widest.resize(std::max(widest.size(), widths.size()));
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widest[i] = std::max(widest[i], widths[i]);
    }
  }
  Pads pads;
  for (const Row& row : rows) {
    const std::vector<std::size_t> widths = cell_widths(row, source);
    const std::vector<const Written*> starts = column_starts(row, source);
    for (std::size_t i = 0; i < widths.size(); ++i) {
      pads[starts[i]->begin] = widest[i] - widths[i];
    }
  }
  return pads;
}

}  // namespace mtf::layouting
