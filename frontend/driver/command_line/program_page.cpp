#include "frontend/driver/command_line/program_page.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "frontend/parse/parse.h"
#include "ir/support/columns.h"
#include "ir/support/diag.h"
#include "ir/support/file.h"
#include "ir/support/text/trimmed.h"

namespace mtf {
namespace {

constexpr std::int64_t kMaxProgram = std::int64_t{1} << 26;

std::string_view uncommented_line(std::string_view line) {
  const std::string_view text = trimmed(line);
  return trimmed(text.substr(std::min(text.find_first_not_of('#'), text.size())));
}

struct Comment {
  std::vector<std::string> lines;
  std::int32_t first = 0;  // its line
};

// The lines of comment that end at a line, none of which is for the system (`#!/usr/bin/env mtf`).
Comment comment_up_to(const SourceMap& sources, FileId file, std::int32_t last) {
  Comment comment{.lines = {}, .first = last + 1};
  for (; comment.first > 1; --comment.first) {
    const std::string_view above = trimmed(sources.line(file, comment.first - 1));
    if (!above.starts_with('#') || above.starts_with("#!")) {
      break;
    }
    comment.lines.emplace(comment.lines.begin(), uncommented_line(above));
  }
  return comment;
}

// What stands behind the statement on its line, or in the lines of comment above it.
Comment comment_of(const SourceMap& sources, SourceSpan span) {
  const std::string_view text = sources.file(span.file).text;
  const std::int32_t line = sources.place(span.file, span.begin).line;
  const std::string_view behind =
      trimmed(text.substr(span.end, text.find('\n', span.end) - span.end));
  return behind.starts_with('#')
             ? Comment{.lines = {std::string(uncommented_line(behind))}, .first = line}
             : comment_up_to(sources, span.file, line - 1);
}

// The comment that the file begins with.
Comment first_comment(const SourceMap& sources, FileId file) {
  std::int32_t line = 1;
  while (trimmed(sources.line(file, line)).starts_with('#')) {
    ++line;
  }
  return comment_up_to(sources, file, line - 1);
}

struct WrittenProgram {
  SourceMap sources;
  ast::File tree;
};

// nullopt: there is none, or it has mistakes.
std::optional<WrittenProgram> program_at(const std::string& path) {
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
  std::optional<ast::File> tree = parse(file, sources, diags);
  return tree && diags.ok() ? std::optional(WrittenProgram{.sources = std::move(sources),
                                                           .tree = *std::move(tree)})
                            : std::nullopt;
}

// Null: the statement is no `option`.
const ast::Binding* as_option(const ast::Stmt& statement) {
  const auto* binding = std::get_if<ast::Binding>(&statement.node);
  return binding != nullptr && binding->is_option ? binding : nullptr;
}

}  // namespace

std::optional<std::string> program_page(const std::string& path) {
  const std::optional<WrittenProgram> program = program_at(path);
  if (!program) {
    return std::nullopt;
  }
  const SourceMap& sources = program->sources;
  const FileId file = program->tree.id;
  std::vector<Row> rows;
  Comment about = first_comment(sources, file);
  for (const ast::Stmt& statement : program->tree.statements) {
    if (const ast::Binding* binding = as_option(statement)) {
      const SourceSpan value = binding->value.span;
      const Comment comment = comment_of(sources, statement.span);
      if (comment.first == about.first) {
        about.lines.clear();  // it is about this option
      }
      rows.push_back({"--" + binding->names.front().text,
                      sources.file(file).text.substr(value.begin, value.end - value.begin),
                      joined(comment.lines, " ")});
    }
  }
  const std::string name = std::filesystem::path(path).filename().string();
  std::string page = "mtf " + path + (rows.empty() ? "" : " -- [--OPTION VALUE]…") + "\n\n" +
                     (about.lines.empty() ? "" : "  " + joined(about.lines, "\n  ") + "\n\n");
  page += rows.empty() ? "  " + name + " has no options; `option width = 256` declares one.\n"
                       : in_columns(rows, {.gap = 3});
  return page + "\n`mtf run --help` lists the options of mtf, which stand before `--`.\n";
}

bool has_option(const std::string& path, std::string_view name) {
  const std::optional<WrittenProgram> program = program_at(path);
  return program && std::ranges::any_of(program->tree.statements, [name](const auto& statement) {
           const ast::Binding* option = as_option(statement);
           return option != nullptr && option->names.front().text == name;
         });
}

}  // namespace mtf
