// A mistake in plain words: what was found, and the one thing that would have fitted.

#include "frontend/parse_grammar.h"

namespace mtf::parsing {
namespace {

std::string literal(std::size_t type) {
  std::string name = MtfLexer(nullptr).getVocabulary().getLiteralName(type);
  return name.size() > 2 ? "`" + name.substr(1, name.size() - 2) + "`" : "a string";
}

std::string expectation(const Mistake& mistake, const Token& before) {
  const antlr4::misc::IntervalSet& expected = mistake.expected;
  const auto has = [&](std::size_t type) { return expected.contains(type); };
  if (mistake.rule == MtfParser::RuleStatement) {
    return "a statement";
  }
  if (has(MtfParser::INT)) {
    return "an expression";
  }
  if (has(MtfParser::NAME)) {
    return has(MtfParser::STAR) ? "an axis" : has(MtfParser::STRING_BEGIN) ? "a module" : "a name";
  }
  for (const std::size_t closer : {MtfParser::CLOSE_PAREN, MtfParser::CLOSE_BRACKET}) {
    if (has(closer) && before.type + 1 == closer) {  // right after its opener
      return mistake.rule == MtfParser::RuleFunction ? "a name" : "an expression";
    }
    if (has(closer)) {
      return (mistake.rule == MtfParser::RuleOperand && closer == MtfParser::CLOSE_PAREN
                  ? ""
                  : "`,` or ") +
             literal(closer);
    }
  }
  for (const std::size_t sign : {MtfParser::OPEN_BRACE, MtfParser::ASSIGN, MtfParser::ARROW,
                                 MtfParser::IN, MtfParser::WITH, MtfParser::COLON}) {
    if (has(sign)) {
      return literal(sign);
    }
  }
  if (has(MtfParser::EXPR_END)) {
    return "`}`";
  }
  if (has(MtfParser::SEP) || has(MtfParser::CLOSE_BRACE) || expected.isEmpty()) {
    return {};
  }
  return literal(static_cast<std::size_t>(expected.getMinElement()));
}

}  // namespace

std::string explain(const Source& source, std::span<const Token> tokens, const Mistake& mistake) {
  std::string slip = explain_slip(source, tokens, mistake);
  if (!slip.empty()) {
    return slip;
  }
  const Token& found = tokens[mistake.at];
  const Token& before = tokens[mistake.at == 0 ? 0 : mistake.at - 1];
  const bool after_dim = mistake.rule == MtfParser::RuleLayoutBody &&
                         !mistake.expected.contains(std::size_t{MtfParser::OPEN_BRACE}) &&
                         before.type == MtfParser::NAME &&
                         tokens[mistake.at - 2].type != MtfParser::ARROW;
  const std::string what = after_dim ? "`->`" : expectation(mistake, before);
  const bool reserved = found.type >= MtfParser::AND && found.type <= MtfParser::FALSE;
  const bool named = what == "a name" || what == "a module";
  if (named && is_word(before.type) && before.type != MtfParser::NAME) {
    return backticked(source.at(before)) + " needs " + what + ", found " + describe(source, found) +
           (reserved ? "; it is a word of the language" : "");
  }
  if (what.empty()) {
    return "found " + describe(source, found) + " where the statement should end";
  }
  return "found " + describe(source, found) + " where " + what + " was expected";
}

}  // namespace mtf::parsing
