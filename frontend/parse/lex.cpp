// Characters to tokens. The generated lexer does all but strings, whose text is not made of tokens:
// it is cut here, and the lexer set again on the expression inside `{ }`.

#include <cctype>

#include <antlr4-runtime.h>

#include "frontend/parse/parse.h"
#include "frontend/parse/token.h"
#include "grammar/MtfLexer.h"
#include "grammar/MtfParser.h"
#include "ir/support/utf8.h"

namespace mtf::parsing {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The text as the lexer reads it: code points, at byte offsets. Nothing is copied.
class Utf8Stream : public antlr4::CharStream {
 public:
  explicit Utf8Stream(std::string_view text) : text_(text) {}

  void consume() override { at_ += first_code_point(text_.substr(at_, 4)).length; }
  std::size_t LA(ssize_t ahead) override {  // the lexer looks at most one ahead
    if (ahead <= 0 || at_ >= text_.size()) {
      return EOF;
    }
    const auto byte = static_cast<unsigned char>(text_[at_]);
    return byte < 0x80 ? byte : first_code_point(text_.substr(at_, 4)).value;
  }
  ssize_t mark() override { return 0; }
  void release(ssize_t /*marker*/) override {}
  std::size_t index() override { return at_; }
  void seek(std::size_t index) override { at_ = index; }
  std::size_t size() override { return text_.size(); }
  [[nodiscard]] std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval& /*interval*/) override { return {}; }
  [[nodiscard]] std::string toString() const override { return {}; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

class Cutter {
 public:
  Cutter(const Source& source, Problems& problems)
      : source_(source),
        problems_(problems),
        input_(source.text),
        lexer_(&input_),
        automaton_(*lexer_.getInterpreter<antlr4::atn::LexerATNSimulator>()) {
    input_.seek(source.text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
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
  [[nodiscard]] std::uint32_t here() { return static_cast<std::uint32_t>(input_.index()); }

  void push(std::size_t type, std::uint32_t begin, std::uint32_t end) {
    tokens_.push_back({.type = type, .begin = begin, .end = end, .statement = 0, .partner = 0});
  }

  void next() {
    const std::uint32_t begin = here();
    if (begin < source_.text.size() && source_.text[begin] == '#') {  // COMMENT, found faster
      input_.seek(std::min(source_.text.find('\n', begin), source_.text.size()));
      return;
    }
    const std::size_t type = automaton_.match(&input_, 0);  // nextToken() without a heap object
    const std::uint32_t end = here();
    if (type == MtfParser::SPACE) {
      return;
    }
    if (is_comment(type, begin)) {
      comment(begin);
      return;
    }
    if (type == MtfParser::FOREIGN || type == MtfParser::UNKNOWN) {
      strange(begin, end);
      return;
    }
    if (type == MtfParser::NEWLINE || type == MtfParser::EOF) {
      end_strings();
      strange_ = false;
    } else if (!open_.empty() && ends_expression(type, begin, end)) {
      return;
    }
    if (type == MtfParser::INT && ends_in_point(end)) {
      pointed(begin, end);
      return;
    }
    count_bracket(type);
    push(type, begin, end);
    if (type == MtfParser::STRING_BEGIN) {
      open_.push_back({.begin = begin, .braces = 0});
      cut_text();
    }
  }

  // Of what stands in a string between `{` and `}`: whether the text goes on there.
  bool ends_expression(std::size_t type, std::uint32_t begin, std::uint32_t end) {
    if (type == MtfParser::COLON && open_.back().is_outside()) {
      cut_format(begin);
      return true;
    }
    if (type == MtfParser::OPEN_BRACE) {
      ++open_.back().braces;
    } else if (type == MtfParser::CLOSE_BRACE && open_.back().braces-- == 0) {
      push(MtfParser::EXPR_END, begin, end);
      cut_text();
      return true;
    }
    return false;
  }

  // Of `e3`, `E-3` from here; 0: none.
  [[nodiscard]] std::size_t exponent_at(std::size_t at) const {
    const auto is = [this](std::size_t i, std::string_view any) {
      return i < source_.text.size() && any.find(source_.text[i]) != std::string_view::npos;
    };
    std::size_t end = at + 1 + (is(at + 1, "+-") ? 1 : 0);
    if (!is(at, "eE") || !is(end, "0123456789")) {
      return 0;
    }
    while (is(end, "0123456789")) {
      ++end;
    }
    return end - at;
  }

  // Whether a point follows that begins neither decimals nor a range nor a member.
  [[nodiscard]] bool ends_in_point(std::size_t end) const {
    const std::string_view text = source_.text;
    if (end >= text.size() || text[end] != '.') {
      return false;
    }
    const char next = end + 1 < text.size() ? text[end + 1] : '\n';
    const bool is_word = std::isalpha(static_cast<unsigned char>(next)) != 0 || next == '_' ||
                         static_cast<unsigned char>(next) >= 0x80;
    return next != '.' && (!is_word || exponent_at(end + 1) > 0);
  }

  void pointed(std::uint32_t begin, std::uint32_t point) {
    const std::size_t exponent = exponent_at(point + 1);
    const auto end = static_cast<std::uint32_t>(point + 1 + exponent);
    input_.seek(end);
    push(MtfParser::FLOAT, begin, end);
    if (!problems_.enough()) {
      problems_.add(DiagKind::kSyntax, source_.span(begin, end),
                    "a point is followed by a digit; write `" +
                        std::string(source_.text.substr(begin, point - begin)) + ".0" +
                        std::string(source_.text.substr(point + 1, exponent)) + "`");
    }
  }

  // `//` where nothing is there to be divided, and `/*`: comments of other languages.
  [[nodiscard]] bool is_comment(std::size_t type, std::uint32_t begin) const {
    return open_.empty() && ((type == MtfParser::FLOOR && !is_after_operand()) ||
                             (type == MtfParser::SLASH && source_.text.substr(begin, 2) == "/*"));
  }

  // Of most keywords only the parser tells whether they are names here: `print at // 2`.
  [[nodiscard]] bool is_after_operand() const {
    if (tokens_.empty()) {
      return false;
    }
    const std::size_t last = tokens_.back().type;
    const bool stands_alone = last == MtfParser::ELSE || last == MtfParser::RETURN ||
                              last == MtfParser::BREAK || last == MtfParser::CONTINUE;
    return ends_operand(last) || (is_word(last) && !continues(last) && !stands_alone);
  }

  // Told once; none of them is part of the program.
  void comment(std::uint32_t begin) {
    const bool has_end = source_.text[begin + 1] == '*';
    const std::size_t close = source_.text.find(has_end ? "*/" : "\n", begin);
    const std::size_t end =
        close == std::string_view::npos ? source_.text.size() : close + (has_end ? 2 : 0);
    input_.seek(end);
    if (!problems_.enough() && !is_comment_told_) {
      is_comment_told_ = true;
      problems_.add(DiagKind::kSyntax, source_.span(begin, begin + 2),
                    "a comment starts with `#`, on each of its lines; " +
                        backticked(source_.text.substr(begin, 2)) + " does not");
    }
  }

  void count_bracket(std::size_t type) {
    if (open_.empty()) {
      return;
    }
    const bool opens = type == MtfParser::OPEN_PAREN || type == MtfParser::OPEN_BRACKET;
    const bool closes = type == MtfParser::CLOSE_PAREN || type == MtfParser::CLOSE_BRACKET;
    open_.back().brackets += opens ? 1 : closes ? -1 : 0;
  }

  // `:.4f` behind an expression in a string, to its `}`.
  void cut_format(std::uint32_t begin) {
    const std::size_t stop = source_.text.find_first_of("}\"\n", begin);
    const auto end = static_cast<std::uint32_t>(std::min(stop, source_.text.size()));
    input_.seek(end);
    push(MtfParser::FORMAT, begin, end);
  }

  // The text of the innermost string from here to its end or to the next expression.
  void cut_text() {
    const std::string_view text = source_.text;
    const std::uint32_t begin = here();
    std::size_t stop = text.find_first_of("\\\"{\n", begin);
    while (stop < text.size() && text[stop] == '\\') {
      const bool escapes = stop + 1 < text.size() && text[stop + 1] != '\n';
      stop = text.find_first_of("\\\"{\n", stop + (escapes ? 2 : 1));
    }
    const auto end = static_cast<std::uint32_t>(std::min(stop, text.size()));
    input_.seek(end);
    if (end > begin) {
      push(MtfParser::TEXT, begin, end);
    }
    if (end == text.size() || text[end] == '\n') {
      end_strings();
      return;
    }
    input_.seek(end + 1);
    push(text[end] == '"' ? MtfParser::STRING_END : MtfParser::EXPR_BEGIN, end, end + 1);
    if (text[end] == '"') {
      open_.pop_back();
    } else {
      open_.back().braces = 0;
      open_.back().brackets = 0;
    }
  }

  // The first `{` of a string that nothing closes before the quote that was to end it, which then
  // begins a string of its own.
  [[nodiscard]] std::optional<std::uint32_t> unclosed_brace(std::uint32_t begin) const {
    const std::string_view text = source_.text;
    std::vector<std::uint32_t> open;
    bool is_quoted = false;
    for (std::uint32_t i = begin + 1; i < text.size() && text[i] != '\n'; ++i) {
      is_quoted = (is_quoted && text[i] != '{') || text[i] == '"';
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == '{') {
        open.push_back(i);
      } else if (text[i] == '}' && !open.empty()) {
        open.pop_back();
      }
    }
    return open.empty() || !is_quoted ? std::nullopt : std::optional(open.front());
  }

  // At the end of a line every string must be closed.
  void end_strings() {
    if (open_.empty()) {
      return;
    }
    const std::uint32_t begin = open_.front().begin;
    if (!problems_.enough()) {
      const std::optional<std::uint32_t> brace = unclosed_brace(begin);
      const std::uint32_t at = brace.value_or(begin);
      problems_.add(DiagKind::kSyntax, source_.span(at, at + 1),
                    brace ? "this `{` has no `}` in its string; `\\{` is a brace that is shown"
                          : "this string has no closing `\"` on its line");
    }
    open_.clear();
    const std::uint32_t end = tokens_.back().end;
    push(MtfParser::STRING_END, end, end);
  }

  [[nodiscard]] bool line_has_floor() const {
    for (std::size_t i = tokens_.size(); i-- > 0 && tokens_[i].type != MtfParser::NEWLINE;) {
      if (tokens_[i].type == MtfParser::FLOOR) {
        return true;
      }
    }
    return false;
  }

  void strange(std::uint32_t begin, std::uint32_t end) {
    const std::string_view text = source_.text.substr(begin, end - begin);
    const bool in_comment = !strange_ && open_.empty() && line_has_floor();
    if (in_comment) {  // most likely: what follows would mislead
      input_.seek(std::min(source_.text.find('\n', end), source_.text.size()));
    }
    if (text == "'" || text == "`") {  // a string elsewhere: what is inside would mislead
      const std::size_t close = source_.text.find_first_of(std::string(text) + "\n", end);
      if (close < source_.text.size() && source_.text[close] != '\n') {
        end = static_cast<std::uint32_t>(close + 1);
        input_.seek(end);
      }
    }
    const std::string_view name = name_before();
    push(MtfParser::UNKNOWN, begin, end);
    if (!problems_.enough() && !strange_) {
      strange_ = true;
      problems_.add(
          DiagKind::kSyntax, source_.span(begin, end),
          (text == "!" && !open_.empty() ? std::string(kFormats) : explain_sign(text, name)) +
              (in_comment ? "; `//` divides, a comment starts with `#`" : ""));
    }
  }

  // The token so far last, if it is a name; "" otherwise.
  [[nodiscard]] std::string_view name_before() const {
    const bool is_name = !tokens_.empty() && tokens_.back().type == MtfParser::NAME;
    return is_name ? source_.at(tokens_.back()) : std::string_view();
  }

  struct OpenString {
    std::uint32_t begin = 0;
    int braces = 0;    // open in the expression being read
    int brackets = 0;  // and ( [

    [[nodiscard]] bool is_outside() const { return braces == 0 && brackets == 0; }
  };

  const Source& source_;
  Problems& problems_;
  Utf8Stream input_;
  MtfLexer lexer_;
  antlr4::atn::LexerATNSimulator& automaton_;
  std::vector<OpenString> open_;
  bool is_comment_told_ = false;
  bool strange_ = false;  // the line has a sign that means nothing; one is told
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(const Source& source, Problems& problems) {
  return Cutter(source, problems).run();
}

}  // namespace mtf::parsing
