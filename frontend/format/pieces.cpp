#include "frontend/format/pieces.h"

#include <algorithm>
#include <array>
#include <utility>

#include "frontend/format/gaps.h"

namespace mtf::layouting {
namespace {

// How tightly an operator binds, from loose to tight.
int tightness(std::string_view sign) {
  constexpr auto kLevels = std::to_array<std::string_view>(
      {" or ", " and ", " == != < <= > >= ", " + - ", " * / // % ", " ** "});
  const std::string word = " " + std::string(sign) + " ";
  const auto* found = std::ranges::find_if(
      kLevels, [&](std::string_view level) { return level.find(word) != std::string_view::npos; });
  return static_cast<int>(found - kLevels.begin());
}

bool opens(std::string_view text) {
  return text == "(" || text == "[";
}

bool closes(std::string_view text) {
  return text == ")" || text == "]";
}

// A bracket that belongs to the word before it: of a call, an index, a type, parameters.
bool joins_word(const Written& leaf, const Written& parent) {
  switch (parent.form) {
    case Form::kSuffix:
      return &leaf == &parent.children.front();
    case Form::kType:
    case Form::kFunction:
      return true;
    default:
      return false;
  }
}

bool no_blank_before(std::string_view text, const Written& leaf, const Written& parent) {
  if (opens(text)) {
    return joins_word(leaf, parent);
  }
  return closes(text) || text == "," || text == "." ||
         (text == ".." && parent.form == Form::kRange) ||
         (text == ":" && parent.form != Form::kVariable);
}

bool no_blank_behind(std::string_view text, const Written& parent) {
  return opens(text) || text == "." || (text == ".." && parent.form == Form::kRange) ||
         (text == "-" && parent.form == Form::kOperand);
}

// Statements whose first word is followed by a list, which goes on under its beginning.
bool begins_list(const Written& node) {
  return node.form == Form::kPrint || node.form == Form::kReturnValues ||
         node.form == Form::kAssertion || node.form == Form::kDims;
}

// A block ends its statement by itself.
bool needs_semicolon(const Written& above, const Written& below, std::string_view source) {
  const bool statements = above.form == Form::kStatement && below.form == Form::kStatement;
  const Written& last = statements ? above.children.front().children.back() : above;
  return last.form != Form::kBlock || source[below.begin] == '-';
}

}  // namespace

bool is_body(const Written& node) {
  return node.form == Form::kBlock || node.form == Form::kLayoutBody ||
         node.form == Form::kExpectBody;
}

bool is_token(const Written& node, std::string_view source, std::string_view text) {
  return node.form == Form::kToken && text_of(node, source) == text;
}

std::vector<Piece> Pieces::take() {
  return std::exchange(pieces_, {});
}

void Pieces::add(const Written& child, const Written& parent) {
  switch (child.form) {
    case Form::kToken:
      token(child, parent);
      return;
    case Form::kString:
      word(text_of(child, source_), child);
      return;
    case Form::kExpr:
      chain(child, 0, child.children.size());
      return;
    case Form::kArguments:
      arguments(child);
      return;
    default:
      break;
  }
  if (is_body(child)) {
    body(child);
  } else {
    all(child);
  }
}

void Pieces::all(const Written& node) {
  const bool list = begins_list(node);
  if (node.form == Form::kPlain && node.children.size() > 1) {  // a, b = f(x)
    assignment(node);
    return;
  }
  for (const Written& child : node.children) {
    add(child, node);
    if (list && &child == &node.children.front()) {
      glued_ = node.children.size() == 1;
      group(Act::kOpen);
    }
  }
  if (list) {
    group(Act::kClose);
  }
}

void Pieces::token(const Written& leaf, const Written& parent) {
  const std::string_view text = text_of(leaf, source_);
  if (closes(text)) {
    close_bracket(leaf);
  }
  glued_ = glued_ || no_blank_before(text, leaf, parent);
  word(text, leaf);
  glued_ = no_blank_behind(text, parent);
  if (opens(text)) {
    open_bracket(leaf);
  } else if (text == "," && parent.form != Form::kBinding) {
    add_break("");
  }
}

void Pieces::word(std::string_view text, const Written& leaf) {
  remarks(leaf.begin);
  const auto pad = pads_.find(leaf.begin);
  const std::size_t blanks = (glued_ ? 0 : 1) + (pad == pads_.end() ? 0 : pad->second);
  pieces_.push_back({.act = Act::kText, .text = std::string(blanks, ' ') + std::string(text)});
  glued_ = false;
  end_ = leaf.end;
}

void Pieces::open_bracket(const Written& leaf) {
  group(Act::kOpen, line_ends_before(next_word(source_, leaf.end)));
}

void Pieces::close_bracket(const Written& leaf) {
  const bool own_line = line_ends_before(leaf.begin);
  remarks(leaf.begin);
  group(Act::kClose, own_line);
}

void Pieces::group(Act act, bool kept) {
  if (act == Act::kOpen && !glued_) {  // what is inside goes on under its first word
    pieces_.push_back({.act = Act::kText, .text = " "});
    glued_ = true;
  }
  pieces_.push_back({.act = act, .text = {}, .kept = kept});
}

void Pieces::add_break(std::string_view sign) {
  const std::uint32_t next = next_word(source_, end_);
  const bool kept = line_ends_before(next);
  remarks(next);
  pieces_.push_back({.act = Act::kBreak, .text = std::string(sign) + " ", .kept = kept});
  glued_ = true;
}

bool Pieces::line_ends_before(std::uint32_t next) const {
  return next > end_ && source_.substr(end_, next - end_).find('\n') != std::string_view::npos;
}

void Pieces::remarks(std::uint32_t end) {
  if (end <= end_) {
    return;
  }
  for (Comment& comment : gap_of(source_, end_, end).comments) {
    pieces_.push_back(
        {.act = Act::kRemark, .text = std::move(comment.text), .behind = comment.behind});
    end_ = end;
  }
}

// The names on the left stay together.
void Pieces::assignment(const Written& node) {
  for (const Written& child : node.children.front().children) {
    add(child, {.form = Form::kBinding, .children = {}});
  }
  std::for_each(node.children.begin() + 1, node.children.end(),
                [&](const Written& child) { add(child, node); });
}

// `x -> [batch]` is one element of its list.
void Pieces::arguments(const Written& node) {
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const bool arrow =
        i + 2 < node.children.size() && is_token(node.children[i + 1], source_, "->");
    if (!arrow) {
      add(node.children[i], node);
      continue;
    }
    group(Act::kOpen);
    add(node.children[i], node);
    add(node.children[i + 1], node);
    add_break("");
    add(node.children[i + 2], node);
    group(Act::kClose);
    i += 2;
  }
}

// Operands and operators in turn: the loosest operators part them, each part is a group of its own.
void Pieces::chain(const Written& expr, std::size_t begin, std::size_t end) {
  if (end - begin == 1) {
    all(expr.children[begin]);
    return;
  }
  const auto level_at = [&](std::size_t i) {
    return tightness(text_of(expr.children[i], source_));
  };
  int loosest = level_at(begin + 1);
  for (std::size_t i = begin + 1; i < end; i += 2) {
    loosest = std::min(loosest, level_at(i));
  }
  group(Act::kOpen);
  std::size_t part = begin;
  for (std::size_t i = begin + 1; i < end; i += 2) {
    if (level_at(i) == loosest) {
      chain(expr, part, i);
      token(expr.children[i], expr);
      add_break("");
      part = i + 1;
    }
  }
  chain(expr, part, end);
  group(Act::kClose);
}

// On one line: `{ a; b }`.
void Pieces::body(const Written& node) {
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const Written& child = node.children[i];
    const bool first = i == 1;  // behind the `{`
    if (child.form != Form::kSeparator) {
      add(child, node);
    } else if (!first && needs_semicolon(node.children[i - 1], node.children[i + 1], source_)) {
      pieces_.push_back({.act = Act::kText, .text = ";"});
    }
  }
}

}  // namespace mtf::layouting
