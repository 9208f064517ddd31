#include "frontend/format/layouter.h"

#include <algorithm>
#include <utility>

#include "frontend/format/gaps.h"

namespace mtf::layouting {

std::vector<Line> Layouter::file(const Written& tree) {
  rows(tree, 0, /*goes_on=*/false);
  static_cast<void>(gap(static_cast<std::uint32_t>(source_.size()), 0, lines_.size() == 1));
  return std::move(lines_);
}

// `goes_on`: the first row stands on the line that there is.
void Layouter::rows(const Written& list, std::size_t indent, bool goes_on) {
  const std::vector<Row> all = rows_of(list, source_);
  const bool statements = list.form == Form::kFile || list.form == Form::kBlock;
  const std::size_t hang_around = std::exchange(hang_, statements ? 2 * kIndent : 0);
  for (std::size_t i = 0; i < all.size();) {
    const std::span<const Row> rest = std::span(all).subspan(i);
    const std::size_t count = count_aligned(rest, source_);
    run(rest.first(count), list, indent, i == 0, goes_on && i == 0);
    i += count;
  }
  hang_ = hang_around;
}

// Columns are aligned unless that makes lines too long.
void Layouter::run(std::span<const Row> rows, const Written& list, std::size_t indent, bool first,
                   bool goes_on) {
  const State before = state();
  neighbours(rows, list, indent, first, goes_on);
  if (rows.size() == 1) {
    return;
  }
  const std::size_t lines = lines_.size();
  const std::size_t widest = std::max(widest_since(before), kWidest);
  back_to(before);
  const Pads around = pads_;
  pads_.merge(aligned(rows, source_));
  neighbours(rows, list, indent, first, goes_on);
  pads_ = around;
  if (lines_.size() > lines || widest_since(before) > widest) {
    back_to(before);
    neighbours(rows, list, indent, first, goes_on);
  }
}

void Layouter::neighbours(std::span<const Row> rows, const Written& list, std::size_t indent,
                          bool first, bool goes_on) {
  for (const Row& each : rows) {
    const bool is_first = first && &each == rows.data();
    if (!is_first && each.behind_semicolon && source_[each.begin()] == '-') {
      lines_.back().text += ";";  // a line cannot begin with `-` otherwise
    }
    if (gap(each.begin(), indent, is_first)) {
      lines_.push_back({});
    }
    if (!goes_on || !is_first) {
      new_line(indent);
    }
    row(each, list, indent);
  }
}

void Layouter::row(const Row& row, const Written& list, std::size_t indent) {
  if (one_line(row, list, indent)) {
    return;
  }
  Pieces pieces(source_, pads_, end_);
  for (const Written* part : row.parts) {
    const bool last_comma = part == row.parts.back() && is_token(*part, source_, ",");
    if (last_comma && row.parts.size() > 1) {
      flush(pieces, indent);
      lines_.back().text += ",";
      end_ = part->end;
      return;
    }
    if (part->form == Form::kSeparator) {
      pieces.add_break(";");
      pieces.go_on_behind(part->end);
    } else if (part->form == Form::kToken) {
      pieces.add(*part, list);
    } else {
      spread(*part, pieces, indent);
    }
  }
  flush(pieces, indent);
}

// With its blocks: nothing in them was on a line of its own, and it fits.
bool Layouter::one_line(const Row& row, const Written& list, std::size_t indent) {
  const std::vector<const Written*> bodies = bodies_of(row);
  const bool spread_out = std::ranges::any_of(bodies, [&](const Written* body) {
    return text_of(*body, source_).find('\n') != std::string_view::npos;
  });
  if (bodies.empty() || spread_out) {
    return false;
  }
  Pieces pieces(source_, pads_, end_);
  for (const Written* part : row.parts) {
    if (part->form == Form::kSeparator) {
      pieces.add_break(";");
    } else {
      pieces.add(*part, list);
    }
  }
  std::vector<Line> lines = {lines_.back()};
  fill(pieces.take(), indent + hang_, lines);
  if (lines.size() > 1 || width_of(lines.back()) > kWidest) {
    return false;
  }
  lines_.back() = std::move(lines.back());
  end_ = pieces.end();
  return true;
}

void Layouter::spread(const Written& node, Pieces& pieces, std::size_t indent) {
  if (node.form == Form::kStatement) {
    spread(node.children.front(), pieces, indent);
    return;
  }
  if (std::ranges::none_of(node.children, is_body)) {
    pieces.add(node, node);
    return;
  }
  for (const Written& child : node.children) {
    if (is_body(child)) {
      pieces.add(child.children.front(), child);
      flush(pieces, indent);
      expand(child, indent);
      pieces.go_on_behind(end_);
      continue;
    }
    if (is_token(child, source_, "else")) {
      before_else(child, pieces, indent);
    }
    pieces.add(child, node);
  }
}

// Behind a `{`. Rules that begin on its line go on under the first one.
void Layouter::expand(const Written& body, std::size_t indent) {
  const auto first =
      std::find_if(body.children.begin() + 1, body.children.end(), [](const Written& child) {
        return child.begin < child.end && child.form != Form::kSeparator;
      });
  const bool hanging = body.form != Form::kBlock && body.children.size() > 2 &&
                       !gap_of(source_, end_, first->begin).has_line;
  if (hanging) {
    lines_.back().text += " ";
    rows(body, width_of(lines_.back()), /*goes_on=*/true);
  } else {
    rows(body, indent + kIndent, /*goes_on=*/false);
  }
  close(body, indent, hanging);
}

void Layouter::close(const Written& body, std::size_t indent, bool hanging) {
  const std::size_t lines = lines_.size();
  const bool empty = body.children.size() == 2;
  static_cast<void>(gap(body.end - 1, indent + kIndent, /*first=*/empty));
  const bool commented = lines_.size() > lines || !lines_.back().remark.empty();
  if ((hanging || empty) && !commented) {
    lines_.back().text += " }";
  } else {
    new_line(indent);
    lines_.back().text = "}";
  }
  end_ = body.end;
}

void Layouter::before_else(const Written& word, Pieces& pieces, std::size_t indent) {
  if (gap_of(source_, end_, word.begin).comments.empty()) {
    return;
  }
  static_cast<void>(gap(word.begin, indent, /*first=*/false));
  new_line(indent);
  pieces.go_on_behind(word.begin);
}

// The comments up to `next`, each in its place; whether a blank line is to follow. `first`: nothing
// is before it that a blank line could keep apart.
bool Layouter::gap(std::uint32_t next, std::size_t indent, bool first) {
  const Gap between = gap_of(source_, end_, next);
  for (const Comment& comment : between.comments) {
    if (comment.behind && lines_.back().remark.empty()) {
      lines_.back().remark = comment.text;
      continue;
    }
    if (comment.apart && !first) {
      lines_.push_back({});
    }
    new_line(indent);
    lines_.back().text = comment.text;
    first = false;
  }
  end_ = next;
  return between.apart && !first;
}

void Layouter::new_line(std::size_t indent) {
  const bool untouched =
      lines_.size() == 1 && lines_.back().text.empty() && lines_.back().remark.empty();
  if (untouched) {
    lines_.back().indent = indent;
  } else {
    lines_.push_back({.indent = indent, .text = {}, .remark = {}});
  }
}

void Layouter::flush(Pieces& pieces, std::size_t indent) {
  fill(pieces.take(), indent + hang_, lines_);
  end_ = pieces.end();
}

Layouter::State Layouter::state() const {
  return {.lines = lines_.size(), .last = lines_.back(), .end = end_};
}

void Layouter::back_to(const State& state) {
  lines_.resize(state.lines);
  lines_.back() = state.last;
  end_ = state.end;
}

std::size_t Layouter::widest_since(const State& state) const {
  std::size_t widest = 0;
  for (std::size_t i = state.lines - 1; i < lines_.size(); ++i) {
    widest = std::max(widest, width_of(lines_[i]));
  }
  return widest;
}

}  // namespace mtf::layouting
