// A mistake in plain words: what was found, and the one thing that would have fitted.

#include <algorithm>
#include <array>

#include <antlr4-runtime.h>

#include "frontend/parse/grammar.h"
#include "grammar/MtfParser.h"

namespace mtf::parsing {
namespace {

std::string literal(std::size_t type) {
  std::string name = MtfLexer(nullptr).getVocabulary().getLiteralName(type);
  return name.size() > 2 ? "`" + name.substr(1, name.size() - 2) + "`" : "a string";
}

// What closes the brackets around, if that would fit; empty if not.
std::string closing(const Mistake& mistake, const Token& before) {
  for (const std::size_t closer : {MtfParser::CLOSE_PAREN, MtfParser::CLOSE_BRACKET}) {
    if (!mistake.expected.contains(closer)) {
      continue;
    }
    if (before.type + 1 == closer) {  // right after its opener
      return mistake.rule == MtfParser::RuleFunction ? "a name" : "an expression";
    }
    const bool one_value =
        mistake.rule == MtfParser::RuleOperand && closer == MtfParser::CLOSE_PAREN;
    return (one_value ? "" : "`,` or ") + literal(closer);
  }
  return {};
}

// Empty: the end of the statement.
std::string expectation(const Mistake& mistake, const Token& before) {
  const auto has = [&](std::size_t type) { return mistake.expected.contains(type); };
  if (mistake.rule == MtfParser::RuleStatement) {
    return "a statement";
  }
  if (mistake.rule == MtfParser::RuleCoordinate) {
    return "an axis or a coordinate";
  }
  if (has(MtfParser::INT)) {
    return "an expression";
  }
  if (has(MtfParser::NAME)) {
    return has(MtfParser::STAR) ? "an axis" : has(MtfParser::STRING_BEGIN) ? "a module" : "a name";
  }
  if (std::string closer = closing(mistake, before); !closer.empty()) {
    return closer;
  }
  static constexpr std::array<std::size_t, 6> kSigns{MtfParser::OPEN_BRACE, MtfParser::ASSIGN,
                                                     MtfParser::ARROW,      MtfParser::IN,
                                                     MtfParser::WITH,       MtfParser::COLON};
  if (const auto* sign = std::ranges::find_if(kSigns, has); sign != kSigns.end()) {
    return literal(*sign);
  }
  if (has(MtfParser::EXPR_END)) {
    return "`}`";
  }
  const bool end = has(MtfParser::SEP) || has(MtfParser::CLOSE_BRACE);
  return end || mistake.expected.isEmpty()
             ? ""
             : literal(static_cast<std::size_t>(mistake.expected.getMinElement()));
}

}  // namespace

namespace {

std::string text_of(const Source& source, std::span<const Token> tokens, const Mistake& mistake) {
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

}  // namespace

// What is wrong with the first word of a statement shows at the word behind it, and with that at
// the first.
Explanation explain(const Source& source, std::span<const Token> tokens, const Mistake& mistake) {
  Explanation result{.text = text_of(source, tokens, mistake), .at = mistake.at};
  const std::size_t head = tokens[mistake.at].statement + 1;
  for (std::size_t i = head; i < std::min(head + 2, tokens.size()); ++i) {
    const std::string word = backticked(source.at(tokens[i]));
    if ((i == head && i < mistake.at && result.text.starts_with(word + " means nothing here")) ||
        result.text.find(word + "; did you mean ") != std::string::npos) {
      result.at = i;
    }
  }
  return result;
}

}  // namespace mtf::parsing
