// Error recovery by statements: the filter has said where each ends, so nothing is guessed.

#include <algorithm>

#include "frontend/parse/grammar.h"
#include "frontend/parse/keywords.h"

namespace mtf::parsing {
namespace {

bool ends_statement(std::size_t type) {
  return type == MtfParser::SEP || type == MtfParser::CLOSE_BRACE || type == MtfParser::EOF;
}

bool holds_statements(std::size_t rule) {
  return rule == MtfParser::RuleFile || rule == MtfParser::RuleBlock ||
         rule == MtfParser::RuleLayoutBody;
}

}  // namespace

Recovery::Recovery(const Source& source, std::span<const Token> tokens, Problems& problems)
    : source_(source), tokens_(tokens), problems_(problems), reported_(tokens.size(), false) {
  for (const Diag& diag : problems.diags) {
    if (diag.severity == Severity::kError) {
      const SourceSpan where = diag.notes.empty() ? diag.span : diag.notes.front().span;
      reported_[statement_at(where.begin)] = true;
    }
  }
}

// Of the last token that begins at or before the offset.
std::size_t Recovery::statement_at(std::uint32_t offset) const {
  const auto after = std::ranges::upper_bound(tokens_, offset, {}, &Token::begin);
  return after == tokens_.begin() ? 0 : (after - 1)->statement;
}

// The statements that begin in the rest of the line of that token, unless a block does.
void Recovery::leave_out_line(std::size_t at) {
  const std::size_t end = source_.text.find('\n', tokens_[at].begin);
  const auto first = tokens_.begin() + static_cast<std::ptrdiff_t>(at);
  const auto last = std::ranges::lower_bound(first, tokens_.end(), end, {}, &Token::begin);
  if (std::ranges::find(first, last, MtfParser::OPEN_BRACE, &Token::type) != last) {
    return;
  }
  for (auto token = first; token != last; ++token) {
    if (token->type == MtfParser::SEP) {
      reported_[static_cast<std::size_t>(token - tokens_.begin())] = true;
    }
  }
}

void Recovery::report(antlr4::Parser* parser) {
  if (inErrorRecoveryMode(parser)) {
    return;
  }
  beginErrorCondition(parser);
  const Mistake mistake{.at = parser->getCurrentToken()->getTokenIndex(),
                        .rule = parser->getContext()->getRuleIndex(),
                        .expected = parser->getExpectedTokens()};
  const Token& found = tokens_[mistake.at];
  const bool put_in =
      found.begin == found.end && found.type != MtfParser::SEP && found.type != MtfParser::EOF;
  // A block on a line of its own: its header has said so.
  const bool headless = found.type == MtfParser::OPEN_BRACE && mistake.at == found.statement + 1 &&
                        reported_[tokens_[found.statement].statement];
  if (put_in || headless || reported_[found.statement]) {
    return;
  }
  reported_[found.statement] = true;
  if (mistake.expected.contains(std::size_t{MtfParser::OPEN_BRACE})) {
    leave_out_line(mistake.at);  // what stands in a block that has no `{`
  }
  if (found.type == MtfParser::EOF && mistake.at > 0 && continues(tokens_[mistake.at - 1].type)) {
    problems_.at_end = found.begin;
  }
  Explanation explanation = explain(source_, tokens_, mistake);
  problems_.add(DiagKind::kSyntax, source_.span(tokens_[explanation.at]),
                std::move(explanation.text));
  if (problems_.enough()) {
    throw antlr4::ParseCancellationException();
  }
}

void Recovery::reportError(antlr4::Parser* parser, const antlr4::RecognitionException& /*error*/) {
  report(parser);
}

antlr4::Token* Recovery::recoverInline(antlr4::Parser* parser) {
  throw antlr4::InputMismatchException(parser);
}

void Recovery::recover(antlr4::Parser* parser, std::exception_ptr /*error*/) {
  skip_statement(parser);
}

// Called before every turn of a loop: here the rules that hold statements notice what fits none.
void Recovery::sync(antlr4::Parser* parser) {
  const std::size_t rule = parser->getContext()->getRuleIndex();
  if (!holds_statements(rule)) {
    return;
  }
  const std::size_t at = parser->getCurrentToken()->getTokenIndex();
  const std::size_t type = tokens_[at].type;
  const std::size_t before = at == 0 ? MtfParser::EOF : tokens_[at - 1].type;
  const bool item = rule == MtfParser::RuleLayoutBody &&
                    (type == MtfParser::COMMA ||
                     (is_word(type) && (before == MtfParser::SEP || before == MtfParser::COMMA)));
  if (!ends_statement(type) && !item) {
    report(parser);
    skip_statement(parser);
  }
}

// A header may be broken and its body sound: the blocks on the way are parsed.
void Recovery::skip_statement(antlr4::Parser* parser) {
  antlr4::TokenStream* stream = parser->getTokenStream();
  std::size_t at = parser->getCurrentToken()->getTokenIndex();
  const std::size_t first = std::min<std::size_t>(tokens_[at].statement + 1, tokens_.size() - 1);
  const std::size_t keyword = tokens_[first].type;
  auto* grammar = dynamic_cast<MtfParser*>(parser);
  while (!ends_statement(tokens_[at].type)) {
    if (tokens_[at].type != MtfParser::OPEN_BRACE) {
      ++at;
    } else if (has_body(keyword) || keyword == MtfParser::OPEN_BRACE) {
      stream->seek(at);
      keyword == MtfParser::EXPECT ? static_cast<void>(grammar->expectBody())
      : has_layout_body(keyword)   ? static_cast<void>(grammar->layoutBody())
                                   : static_cast<void>(grammar->block());
      at = std::max(at + 1, parser->getCurrentToken()->getTokenIndex());
      beginErrorCondition(parser);
    } else {
      at = std::max<std::size_t>(at + 1, tokens_[at].partner + 1);
    }
  }
  stream->seek(at);
}

}  // namespace mtf::parsing
