#include "frontend/format/format.h"

#include <algorithm>
#include <stdexcept>

#include "frontend/format/gaps.h"
#include "frontend/format/layouter.h"
#include "frontend/parse/written.h"

namespace mtf {
namespace {

using layouting::Line;

// Comments behind neighbouring lines begin at one column.
std::vector<std::size_t> remark_columns(std::span<const Line> lines) {
  constexpr std::size_t kApart = 2;
  std::vector<std::size_t> columns(lines.size());
  for (std::size_t i = 0; i < lines.size();) {
    std::size_t end = i;
    std::size_t widest = 0;
    while (end < lines.size() && !lines[end].remark.empty()) {
      widest = std::max(widest, layouting::width_of(lines[end]));
      ++end;
    }
    std::fill(columns.begin() + static_cast<std::ptrdiff_t>(i),
              columns.begin() + static_cast<std::ptrdiff_t>(end), widest + kApart);
    i = end + 1;
  }
  return columns;
}

std::string text_with(std::vector<Line> lines) {
  for (Line& line : lines) {
    line.text.erase(line.text.find_last_not_of(' ') + 1);
  }
  const std::vector<std::size_t> columns = remark_columns(lines);
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    if (!line.text.empty()) {
      text += std::string(line.indent, ' ') + line.text;
    }
    if (!line.remark.empty()) {
      text += std::string(columns[i] - layouting::width_of(line), ' ') + line.remark;
    }
    text += "\n";
  }
  return text == "\n" ? "" : text;
}

// What must stay as it was: every word, sign and comment, and how the grammar nests them.
void describe(const Written& node, std::string_view source, std::string& words) {
  if (node.form == Form::kSeparator) {
    return;
  }
  if (node.form == Form::kToken || node.form == Form::kString) {
    words += text_of(node, source);
    words += '\n';
    return;
  }
  words += static_cast<char>(node.form);
  words += '(';
  for (const Written& child : node.children) {
    describe(child, source, words);
  }
  words += ')';
}

void add_ends(const Written& node, std::vector<const Written*>& leaves) {
  if (node.form == Form::kToken || node.form == Form::kString) {
    leaves.push_back(&node);
  }
  for (const Written& child : node.children) {
    add_ends(child, leaves);
  }
}

// Each comment, with the number of the word it stands before.
template <typename Visit>
void visit_comments(const Written& tree, std::string_view source, const Visit& visit) {
  std::vector<const Written*> leaves;
  add_ends(tree, leaves);
  std::uint32_t begin = 0;
  for (std::size_t i = 0; i <= leaves.size(); ++i) {
    const auto end =
        i < leaves.size() ? leaves[i]->begin : static_cast<std::uint32_t>(source.size());
    for (const layouting::Comment& comment : layouting::gap_of(source, begin, end).comments) {
      visit(i, comment.text);
    }
    begin = i < leaves.size() ? leaves[i]->end : end;
  }
}

// The words, then the comments.
std::string contents(const Written& tree, std::string_view source) {
  std::string text;
  describe(tree, source, text);
  visit_comments(tree, source, [&text](std::size_t word, const std::string& comment) {
    text += std::to_string(word) + comment + "\n";
  });
  return text;
}

}  // namespace

std::optional<std::string> format_source(FileId file, const SourceMap& sources, DiagSink& diags) {
  const std::string_view source = sources.file(file).text;
  const std::optional<Written> tree = parse_written(file, sources, diags);
  if (!tree) {
    return std::nullopt;
  }
  std::string result = text_with(layouting::Layouter(source).file(*tree));
  SourceMap again;
  DiagSink mistakes;
  const FileId copy = again.add({.name = {}, .path = {}, .text = result});
  const std::optional<Written> written = parse_written(copy, again, mistakes);
  if (!written || contents(*written, result) != contents(*tree, source)) {
    throw std::logic_error("the standard layout would change the program; it stays as it is");
  }
  return result;
}

std::string comments_of(std::string_view source) {
  SourceMap sources;
  DiagSink mistakes;
  const FileId file = sources.add({.name = {}, .path = {}, .text = std::string(source)});
  std::string text;
  if (const std::optional<Written> tree = parse_written(file, sources, mistakes)) {
    visit_comments(*tree, source,
                   [&text](std::size_t, const std::string& comment) { text += comment + "\n"; });
  }
  return text;
}

}  // namespace mtf
