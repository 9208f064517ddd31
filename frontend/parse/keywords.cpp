// The rules of contextual keywords: each looks at one token before and one after.

#include "frontend/parse/keywords.h"

#include <antlr4-runtime.h>

#include "grammar/MtfParser.h"

namespace mtf::parsing {
namespace {

bool is_connective(std::size_t type) {
  return (type >= MtfParser::AS && type <= MtfParser::UNEVEN) || type == MtfParser::WITH ||
         type == MtfParser::AND || type == MtfParser::OR;
}

bool is_reserved(std::size_t type) {
  return type >= MtfParser::AND && type <= MtfParser::FALSE;
}

// A word followed by one of these is being named, not used as a keyword.
bool names_it(std::size_t next) {
  switch (next) {
    case MtfParser::ARROW:
    case MtfParser::ASSIGN:
    case MtfParser::UPDATE:
    case MtfParser::COMMA:
    case MtfParser::DOT:
    case MtfParser::COLON:
      return true;
    default:
      return false;
  }
}

// Declarations need a name next; followed by anything else of an expression, the word is a value.
bool uses_it(std::size_t next) {
  const bool is_operator = next >= MtfParser::EQUAL && next <= MtfParser::POWER;
  return names_it(next) || is_operator || next == MtfParser::OPEN_PAREN ||
         next == MtfParser::OPEN_BRACKET || next == MtfParser::PIN || next == MtfParser::AND ||
         next == MtfParser::OR;
}

bool starts_with_keyword(std::size_t type, std::size_t next) {
  switch (type) {
    case MtfParser::LET:
    case MtfParser::VAR:
    case MtfParser::FN:
    case MtfParser::FOR:
      return next != MtfParser::ARROW;
    case MtfParser::RETURN:
    case MtfParser::PRINT:
    case MtfParser::ASSERT:
    case MtfParser::IF:
    case MtfParser::WHILE:
    case MtfParser::MINIMIZE:
      return !names_it(next);
    case MtfParser::SAVE:
    case MtfParser::RESTORE:
      return next == MtfParser::STRING_BEGIN || (is_word(next) && !is_connective(next));
    case MtfParser::USE:
    case MtfParser::WITH:
      return is_word(next) && !is_connective(next);
    case MtfParser::RECOMPUTE:
      return next == MtfParser::OPEN_BRACE;
    case MtfParser::GRADIENT:
      return is_word(next) && !is_connective(next);
    case MtfParser::EXPECT:
      return next == MtfParser::OPEN_BRACE || (is_word(next) && !is_connective(next));
    case MtfParser::BREAK:
    case MtfParser::CONTINUE:
      return next == MtfParser::NEWLINE || next == MtfParser::SEMICOLON ||
             next == MtfParser::CLOSE_BRACE || next == MtfParser::EOF;
    default:
      return !uses_it(next);
  }
}

bool is_connecting(const WordContext& word) {
  switch (word.type) {
    case MtfParser::INFER:
    case MtfParser::AUTO:
    case MtfParser::UNEVEN:
      return word.in_layout &&
             (ends_operand(word.previous) ||
              (word.previous >= MtfParser::INFER && word.previous <= MtfParser::UNEVEN));
    case MtfParser::WHERE:  // anywhere else it is an operation
      return (ends_operand(word.previous) || word.previous == MtfParser::STAR) &&
             (is_word(word.next) || word.next == MtfParser::INT);
    case MtfParser::STEP:
      return word.in_for && ends_operand(word.previous) && word.next != MtfParser::OPEN_BRACE;
    default:
      return ends_operand(word.previous);
  }
}

}  // namespace

bool has_block(std::size_t keyword) {
  switch (keyword) {
    case MtfParser::FN:
    case MtfParser::MODEL:
    case MtfParser::FOR:
    case MtfParser::WHILE:
    case MtfParser::IF:
    case MtfParser::WITH:
    case MtfParser::RECOMPUTE:
    case MtfParser::GRADIENT:
    case MtfParser::EXPECT:
      return true;
    default:
      return false;
  }
}

bool has_layout_body(std::size_t keyword) {
  return keyword == MtfParser::LAYOUT || keyword == MtfParser::PARAMS || keyword == MtfParser::AT;
}

bool is_keyword(std::size_t type) {
  return is_word(type) && type != MtfParser::NAME && !is_reserved(type);
}

bool begins_statement(std::size_t keyword) {
  return (keyword >= MtfParser::IMPORT && keyword < MtfParser::PARAMS) ||
         keyword == MtfParser::BREAK || keyword == MtfParser::CONTINUE;
}

namespace {

// Within a statement, behind its first word.
bool goes_on_with_keyword(const WordContext& word) {
  switch (word.type) {
    case MtfParser::WITH:
      return ends_operand(word.previous);
    case MtfParser::WHILE:
      return word.in_for && ends_operand(word.previous) && word.next != MtfParser::OPEN_BRACE;
    case MtfParser::LAYOUT:
      return word.previous == MtfParser::USE || word.previous == MtfParser::WITH;
    case MtfParser::PRECISION:
      return word.previous == MtfParser::WITH && is_word(word.next);
    case MtfParser::IF:
      return word.previous == MtfParser::ELSE;
    case MtfParser::LET:
      return word.previous == MtfParser::AT;
    default:
      return false;
  }
}

bool is_meant(const WordContext& word) {
  const bool at_start = word.previous == MtfParser::SEP;
  switch (word.type) {
    case MtfParser::PARAMS:
      return word.in_minimize ? word.previous == MtfParser::COMMA
                              : word.next == MtfParser::OPEN_BRACE;
    case MtfParser::AT:
      return word.next == MtfParser::STRING_BEGIN || word.next == MtfParser::LET;
    case MtfParser::ELSE:
      return word.last == MtfParser::CLOSE_BRACE ||
             (at_start && word.next == MtfParser::OPEN_BRACE);
    default:
      break;
  }
  if (word.type >= MtfParser::AS && word.type <= MtfParser::STEP) {
    return is_connecting(word);
  }
  return at_start ? starts_with_keyword(word.type, word.next) : goes_on_with_keyword(word);
}

}  // namespace

std::size_t resolve_keyword(const WordContext& word) {
  return !is_keyword(word.type) || is_meant(word) ? word.type : std::size_t{MtfParser::NAME};
}

const Token* certain_statement(std::span<const Token> raw) {
  std::size_t i = 0;
  while (i < raw.size() && raw[i].type == MtfParser::NEWLINE) {
    ++i;
  }
  if (i + 1 >= raw.size() || !is_keyword(raw[i].type)) {
    return nullptr;
  }
  const std::size_t type = raw[i].type;
  const std::size_t next = raw[i + 1].type;
  const bool can_start = type < MtfParser::PARAMS && type != MtfParser::WITH;
  const bool follows = next == MtfParser::STRING_BEGIN || next == MtfParser::INT ||
                       (is_word(next) && !is_connective(next));
  return can_start && follows ? &raw[i] : nullptr;
}

}  // namespace mtf::parsing
