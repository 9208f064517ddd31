// The phases of parsing, one after the other; the only caller of the generated parser.

#include "frontend/parse.h"

#include <algorithm>

#include "frontend/parse_build.h"

namespace mtf {
namespace {

using parsing::Problems;
using parsing::Source;
using parsing::Token;

std::vector<std::unique_ptr<antlr4::Token>> as_antlr(std::span<const Token> tokens) {
  std::vector<std::unique_ptr<antlr4::Token>> result;
  result.reserve(tokens.size());
  for (const Token& token : tokens) {
    result.push_back(std::make_unique<antlr4::CommonToken>(token.type));
  }
  return result;
}

ast::File build_file(const Source& source, std::span<const Token> tokens, Problems& problems,
                     const parsing::Tree* tree) {
  const parsing::Builder build{.source = source, .tokens = tokens, .problems = problems};
  ast::File file{.id = source.file, .statements = {}};
  for (MtfParser::StatementContext* statement : parsing::all<MtfParser::StatementContext>(tree)) {
    file.statements.push_back(parsing::build_statement(build, statement, file.statements.empty()));
  }
  return file;
}

std::optional<ast::File> run(const Source& source, Problems& problems) {
  if (!parsing::check_text(source, problems)) {
    return std::nullopt;
  }
  const std::vector<Token> raw = parsing::lex(source, problems);
  if (problems.enough()) {
    return std::nullopt;
  }
  const std::vector<Token> tokens = parsing::filter(source, raw, problems);
  if (problems.enough()) {
    return std::nullopt;
  }
  antlr4::ListTokenSource feed(as_antlr(tokens));
  antlr4::CommonTokenStream stream(&feed);
  MtfParser parser(&stream);
  parser.removeErrorListeners();
  parser.setErrorHandler(std::make_shared<parsing::Recovery>(source, tokens, problems));
  MtfParser::FileContext* tree = nullptr;
  try {
    tree = parser.file();
  } catch (const antlr4::ParseCancellationException&) {
    return std::nullopt;  // enough errors
  }
  if (!problems.ok()) {
    return std::nullopt;
  }
  return build_file(source, tokens, problems, tree);
}

void sort_by_place(Problems& problems) {
  std::ranges::stable_sort(problems.diags, {}, [](const Diag& diag) { return diag.span.begin; });
}

}  // namespace

std::optional<ast::File> parse(FileId file, const SourceMap& sources, DiagSink& diags) {
  const Source source{.file = file, .text = sources.file(file).text};
  Problems problems;
  std::optional<ast::File> result = run(source, problems);
  const bool ok = problems.ok();
  sort_by_place(problems);
  for (Diag& diag : problems.diags) {
    diags.add(std::move(diag));
  }
  return ok ? std::move(result) : std::nullopt;
}

bool needs_more(std::string_view text) {
  Problems problems;
  static_cast<void>(run({.file = {}, .text = text}, problems));
  sort_by_place(problems);
  const auto first = std::ranges::find(problems.diags, Severity::kError, &Diag::severity);
  return problems.at_end.has_value() && first->span.begin == *problems.at_end;
}

}  // namespace mtf
