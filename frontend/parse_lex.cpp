// Characters to tokens. The generated lexer does all but strings, whose text is not made of tokens:
// it is cut here, and the lexer set again on the expression inside `{ }`.

#include <array>

#include <antlr4-runtime.h>

#include "frontend/parse.h"
#include "frontend/parse_token.h"
#include "grammar/MtfLexer.h"
#include "grammar/MtfParser.h"

namespace mtf::parsing {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct Hint {
  std::string_view text;
  std::string_view message;
};

constexpr std::array kForeign = std::to_array<Hint>({
    {":=", "write `let x = …` for a new name, `x = …` for a `var`"},
    {"&&", "write `and`"},
    {"||", "write `or`"},
    {"!", "write `not`"},
    {"+=", "write `x = x + …`"},
    {"-=", "write `x = x - …`"},
    {"*=", "write `x = x * …`"},
    {"/=", "write `x = x / …`"},
    {"//=", "write `x = x // …`"},
    {"%=", "write `x = x % …`"},
    {"**=", "write `x = x ** …`"},
    {"@=", "`einsum` multiplies matrices"},
    {"++", "write `x = x + 1`"},
    {"===", "write `==`"},
    {"!==", "write `!=`"},
    {"&", "write `and`"},
    {"|", "write `or`"},
    {"^", "a power is `**`"},
    {"~", "write `not`"},
    {"?", "a choice is an `if` statement, or `where(c, a, b)` on tensors"},
    {"\\", "a line goes on by itself inside brackets and after an operator"},
    {"$", "inside a string, `{x}` stands for the value of x"},
    {"'", "strings are written in double quotes"},
    {"`", "strings are written in double quotes"},
    {"...", "a range and the rest of the dims are `..`"},
    {"=>", "write `->`, or `>=` to compare"},
});

constexpr std::array kLookalikes = std::to_array<Hint>({
    {"“", "a plain `\"` opens and closes a string"},
    {"”", "a plain `\"` opens and closes a string"},
    {"‘", "a plain `\"` opens and closes a string"},
    {"’", "a plain `\"` opens and closes a string"},
    {"−", "write `-`"},
    {"–", "write `-`"},
    {"—", "write `-`"},
    {"×", "write `*`"},
    {"·", "write `*`"},
    {"÷", "write `/`"},
    {"≤", "write `<=`"},
    {"≥", "write `>=`"},
    {"≠", "write `!=`"},
    {"→", "write `->`"},
    {"←", "write `<-`"},
    {"…", "write `..`"},
    {"\u200B", "it is a space of no width; delete it"},
    {"\uFEFF", "it is a space of no width; delete it"},
});

std::string_view find_hint(std::span<const Hint> hints, std::string_view text) {
  for (const Hint& hint : hints) {
    if (hint.text == text) {
      return hint.message;
    }
  }
  return {};
}

// ANTLR counts code points, everybody else bytes.
class Cutter {
 public:
  Cutter(const Source& source, Problems& problems)
      : source_(source),
        problems_(problems),
        skipped_(bom_size(source.text)),
        input_(std::string(source.text.substr(skipped_))),
        lexer_(&input_),
        automaton_(*lexer_.getInterpreter<antlr4::atn::LexerATNSimulator>()),
        byte_(static_cast<std::uint32_t>(skipped_)) {
    lexer_.removeErrorListeners();
  }

  std::vector<Token> run() {
    while (tokens_.empty() || tokens_.back().type != MtfParser::EOF) {
      if (tokens_.size() >= kMaxTokens) {
        problems_.hopeless = true;
        problems_.add(DiagKind::kBadText, source_.span(0, 0),
                      "the file has more than " + std::to_string(kMaxTokens) + " words and signs");
        break;
      }
      next();
    }
    return std::move(tokens_);
  }

 private:
  static std::size_t bom_size(std::string_view text) {
    return text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  }

  // The byte of a code point; `point` never goes back.
  std::uint32_t byte_of(std::size_t point) {
    for (; point_ < point; ++point_) {
      do {
        ++byte_;
      } while (byte_ < source_.text.size() &&
               (static_cast<unsigned char>(source_.text[byte_]) & 0xC0U) == 0x80);
    }
    return byte_;
  }

  void push(std::size_t type, std::uint32_t begin, std::uint32_t end) {
    tokens_.push_back({.type = type, .begin = begin, .end = end, .statement = 0, .partner = 0});
  }

  void next() {
    const std::uint32_t begin = byte_of(input_.index());
    const std::size_t type =
        automaton_.match(&input_, 0);  // what nextToken() makes a heap object of
    const std::uint32_t end = byte_of(input_.index());
    if (type == MtfParser::SPACE || type == MtfParser::COMMENT) {
      return;
    }
    if (type == MtfParser::EOF) {
      end_strings();
      push(MtfParser::EOF, end, end);
      return;
    }
    if (type == MtfParser::FOREIGN || type == MtfParser::UNKNOWN) {
      strange(begin, end);
      return;
    }
    if (type == MtfParser::NEWLINE) {
      end_strings();
    } else if (!open_.empty() && type == MtfParser::OPEN_BRACE) {
      ++open_.back().braces;
    } else if (!open_.empty() && type == MtfParser::CLOSE_BRACE && open_.back().braces-- == 0) {
      push(MtfParser::EXPR_END, begin, end);
      cut_text();
      return;
    }
    push(type, begin, end);
    if (type == MtfParser::STRING_BEGIN) {
      open_.push_back({.begin = begin, .braces = 0});
      cut_text();
    }
  }

  // The text of the innermost string from here to its end or to the next expression.
  void cut_text() {
    const std::uint32_t begin = byte_of(input_.index());
    std::size_t stop = input_.LA(1);
    for (; stop != '"' && stop != '{' && stop != '\n' && stop != antlr4::IntStream::EOF;
         stop = input_.LA(1)) {
      input_.consume();
      if (stop == '\\' && input_.LA(1) != '\n' && input_.LA(1) != antlr4::IntStream::EOF) {
        input_.consume();
      }
    }
    const std::uint32_t end = byte_of(input_.index());
    if (end > begin) {
      push(MtfParser::TEXT, begin, end);
    }
    if (stop == '\n' || stop == antlr4::IntStream::EOF) {
      end_strings();
      return;
    }
    input_.consume();
    push(stop == '"' ? MtfParser::STRING_END : MtfParser::EXPR_BEGIN, end, end + 1);
    if (stop == '"') {
      open_.pop_back();
    } else {
      open_.back().braces = 0;
    }
  }

  // At the end of a line every string must be closed.
  void end_strings() {
    if (open_.empty()) {
      return;
    }
    const std::uint32_t begin = open_.front().begin;
    if (!problems_.enough()) {
      problems_.add(DiagKind::kSyntax, source_.span(begin, begin + 1),
                    "this string has no closing `\"` on its line");
    }
    open_.clear();
    const std::uint32_t end = tokens_.back().end;
    push(MtfParser::STRING_END, end, end);
  }

  void strange(std::uint32_t begin, std::uint32_t end) {
    const std::string_view text = source_.text.substr(begin, end - begin);
    if (text == "'" || text == "`") {
      skip_quoted(text.front());
      end = byte_of(input_.index());
    }
    std::string message = backticked(text) + " means nothing here";
    for (const std::span<const Hint> hints : {std::span<const Hint>(kForeign), {kLookalikes}}) {
      const std::string_view hint = find_hint(hints, text);
      message += hint.empty() ? "" : "; " + std::string(hint);
    }
    push(MtfParser::UNKNOWN, begin, end);
    if (!problems_.enough()) {
      problems_.add(DiagKind::kSyntax, source_.span(begin, end), std::move(message));
    }
  }

  void skip_quoted(char quote) {
    const std::size_t start = input_.index();
    std::size_t code = input_.LA(1);
    while (code != '\n' && code != antlr4::IntStream::EOF) {
      input_.consume();
      if (code == static_cast<unsigned char>(quote)) {
        return;
      }
      code = input_.LA(1);
    }
    input_.seek(start);
  }

  struct OpenString {
    std::uint32_t begin = 0;
    int braces = 0;  // open in the expression being read
  };

  const Source& source_;
  Problems& problems_;
  std::size_t skipped_;
  antlr4::ANTLRInputStream input_;
  MtfLexer lexer_;
  antlr4::atn::LexerATNSimulator& automaton_;
  std::uint32_t byte_;
  std::size_t point_ = 0;
  std::vector<OpenString> open_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(const Source& source, Problems& problems) {
  return Cutter(source, problems).run();
}

}  // namespace mtf::parsing
