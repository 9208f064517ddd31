// Classes of tokens, and how tokens and problems are told.

#include "frontend/parse/token.h"

#include <antlr4-runtime.h>

#include "frontend/parse/parse.h"
#include "grammar/MtfParser.h"
#include "ir/support/utf8.h"

namespace mtf::parsing {
namespace {

constexpr std::size_t kLongestQuote = 40;

// Keywords are numbered in the order of the grammar, from `import` to `false`.
static_assert(MtfParser::FALSE - MtfParser::IMPORT == 44);
// Each closing bracket follows its opening one.
static_assert(MtfParser::CLOSE_PAREN == MtfParser::OPEN_PAREN + 1);
static_assert(MtfParser::CLOSE_BRACKET == MtfParser::OPEN_BRACKET + 1);

}  // namespace

void Problems::add(DiagKind kind, SourceSpan span, std::string text, std::vector<Note> notes) {
  ++errors;
  diags.push_back({.kind = kind,
                   .severity = Severity::kError,
                   .span = span,
                   .text = std::move(text),
                   .notes = std::move(notes),
                   .fix = {}});
}

bool Problems::enough() const {
  return hopeless || errors >= kMaxSyntaxErrors;
}

bool is_word(std::size_t type) {
  return type == MtfParser::NAME || (type >= MtfParser::IMPORT && type <= MtfParser::FALSE);
}

bool ends_operand(std::size_t type) {
  switch (type) {
    case MtfParser::NAME:
    case MtfParser::INT:
    case MtfParser::FLOAT:
    case MtfParser::TRUE:
    case MtfParser::FALSE:
    case MtfParser::STRING_END:
    case MtfParser::CLOSE_PAREN:
    case MtfParser::CLOSE_BRACKET:
      return true;
    default:
      return false;
  }
}

bool continues(std::size_t type) {
  switch (type) {
    case MtfParser::AND:
    case MtfParser::OR:
    case MtfParser::NOT:
    case MtfParser::OPEN_PAREN:
    case MtfParser::OPEN_BRACKET:
      return true;
    default:  // the operators and signs of the grammar, numbered in its order
      return type >= MtfParser::EQUAL && type <= MtfParser::PIN;
  }
}

std::string backticked(std::string_view text) {
  if (text.size() <= kLongestQuote) {
    return "`" + std::string(text) + "`";
  }
  std::size_t cut = kLongestQuote;
  while (!begins_code_point(text[cut])) {
    --cut;
  }
  return "`" + std::string(text.substr(0, cut)) + "…`";
}

std::string describe(const Source& source, const Token& token) {
  if (token.type == MtfParser::EOF) {
    return "the end of the file";
  }
  if (token.begin == token.end) {
    return "the end of the line";
  }
  if (token.type == MtfParser::TEXT || token.type == MtfParser::STRING_BEGIN) {
    return "a string";
  }
  return backticked(source.at(token));
}

}  // namespace mtf::parsing
