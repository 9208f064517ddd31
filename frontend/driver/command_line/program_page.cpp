#include "frontend/driver/command_line/program_page.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "frontend/parse/parse.h"
#include "ir/support/columns.h"
#include "ir/support/file.h"

namespace mtf {
namespace {

constexpr std::int64_t kMaxProgram = std::int64_t{1} << 26;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos
             ? std::string_view()
             : text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

std::string_view uncommented_line(std::string_view line) {
  const std::string_view text = trimmed(line);
  return trimmed(text.substr(std::min(text.find_first_not_of('#'), text.size())));
}

// What stands behind the statement on its line, or in the lines of comment above it.
std::string comment_of(const SourceMap& sources, SourceSpan span) {
  const std::string_view text = sources.file(span.file).text;
  const std::string_view behind =
      trimmed(text.substr(span.end, text.find('\n', span.end) - span.end));
  if (behind.starts_with('#')) {
    return std::string(uncommented_line(behind));
  }
  std::string comment;
  for (std::int32_t line = sources.place(span.file, span.begin).line - 1; line > 0; --line) {
    const std::string_view above = trimmed(sources.line(span.file, line));
    if (!above.starts_with('#')) {
      break;
    }
    comment = std::string(uncommented_line(above)) + (comment.empty() ? "" : " ") + comment;
  }
  return comment;
}

// The comment that the file begins with.
std::string first_comment(const SourceMap& sources, FileId file) {
  std::string text;
  for (std::int32_t line = 1;; ++line) {
    const std::string_view comment = trimmed(sources.line(file, line));
    if (!comment.starts_with('#')) {
      return text;
    }
    text += "  " + std::string(uncommented_line(comment)) + "\n";
  }
}

}  // namespace

std::optional<std::string> program_page(const std::string& path) {
  const PlainFile program(path);
  if (!program.problem().empty() || program.size() > kMaxProgram) {
    return std::nullopt;
  }
  std::string text(static_cast<std::size_t>(program.size()), '\0');
  if (!program.read(0, std::as_writable_bytes(std::span(text)))) {
    return std::nullopt;
  }
  const std::string name = std::filesystem::path(path).filename().string();
  SourceMap sources;
  DiagSink diags;
  const FileId file = sources.add({.name = name, .path = path, .text = std::move(text)});
  const std::optional<ast::File> tree = parse(file, sources, diags);
  if (!tree || !diags.ok()) {
    return std::nullopt;
  }
  std::vector<Row> rows;
  for (const ast::Stmt& statement : tree->statements) {
    const auto* binding = std::get_if<ast::Binding>(&statement.node);
    if (binding != nullptr && binding->is_option) {
      const SourceSpan value = binding->value.span;
      rows.push_back({"--" + binding->names.front().text,
                      sources.file(file).text.substr(value.begin, value.end - value.begin),
                      comment_of(sources, statement.span)});
    }
  }
  const std::string about = first_comment(sources, file);
  std::string page = "mtf " + path + (rows.empty() ? "" : " -- [--OPTION VALUE]…") + "\n\n" +
                     about + (about.empty() ? "" : "\n");
  page += rows.empty() ? "  " + name + " has no options; `option width = 256` declares one.\n"
                       : in_columns(rows, {.gap = 3});
  return page + "\n`mtf run --help` lists the options of mtf, which stand before `--`.\n";
}

}  // namespace mtf
