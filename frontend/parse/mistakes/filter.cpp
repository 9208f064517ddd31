// From the lexer's tokens to the grammar's: ends of statements, brackets, keywords.
//
// Everything that would cost the grammar a choice or the parser its stack is settled here, in one
// loop over the tokens: whatever comes out nests at most kMaxNesting deep and has its brackets
// matched, a missing one being reported once and put in.

#include <algorithm>

#include <antlr4-runtime.h>

#include "frontend/parse/keywords.h"
#include "frontend/parse/parse.h"
#include "frontend/parse/token.h"
#include "grammar/MtfParser.h"

namespace mtf::parsing {
namespace {

// An open bracket, or the file around all of them.
struct Level {
  std::size_t opener = MtfParser::EOF;
  std::uint32_t index = 0;      // of the opener, in the output
  std::uint32_t statement = 0;  // the one around the bracket
  std::uint32_t indent = 0;     // of the line it stands on
  std::size_t run = 0;          // prefix operators and `**` whose operand is still to come
};

std::size_t closer_of(std::size_t opener) {
  switch (opener) {
    case MtfParser::OPEN_PAREN:
      return MtfParser::CLOSE_PAREN;
    case MtfParser::OPEN_BRACKET:
      return MtfParser::CLOSE_BRACKET;
    case MtfParser::OPEN_BRACE:
      return MtfParser::CLOSE_BRACE;
    default:
      return MtfParser::EXPR_END;
  }
}

std::string_view spelling(std::size_t closer) {
  return closer == MtfParser::CLOSE_PAREN ? ")" : closer == MtfParser::CLOSE_BRACKET ? "]" : "}";
}

bool is_opener(std::size_t type) {
  return type == MtfParser::OPEN_PAREN || type == MtfParser::OPEN_BRACKET ||
         type == MtfParser::OPEN_BRACE || type == MtfParser::EXPR_BEGIN;
}

bool is_closer(std::size_t type) {
  return type == MtfParser::CLOSE_PAREN || type == MtfParser::CLOSE_BRACKET ||
         type == MtfParser::CLOSE_BRACE || type == MtfParser::EXPR_END;
}

class Filter {
 public:
  Filter(const Source& source, std::span<const Token> raw, Problems& problems)
      : source_(source), raw_(raw), problems_(problems), levels_(1) {
    out_.reserve(raw.size() + raw.size() / 8);
  }

  std::vector<Token> run() {
    for (; at_ < raw_.size() && !problems_.hopeless; ++at_) {
      step(raw_[at_]);
    }
    return std::move(out_);
  }

 private:
  void step(const Token& token) {
    if (at_ > 0 && raw_[at_ - 1].type == MtfParser::NEWLINE) {
      indent_ = token.begin - raw_[at_ - 1].end;
    }
    if (token.type == MtfParser::NEWLINE) {
      end_line();
    } else if (token.type == MtfParser::SEMICOLON) {
      close_brackets(token);
      separator_ = token;
      at_start_ = true;
    } else if (token.type == MtfParser::EOF) {
      end_file(token);
    } else if (is_closer(token.type)) {
      close(token);
    } else if (token.type == MtfParser::STRING_END && token.begin == token.end) {
      emit(token);  // of a string that has none: its text may hold what closes the brackets
      while (in_brackets() || in_string()) {
        pop(token.end, token.end);
      }
    } else {
      ordinary(token);
    }
  }

  void ordinary(Token token) {
    const std::size_t next = at_ + 1 < raw_.size() ? raw_[at_ + 1].type : MtfParser::EOF;
    token.type = resolve_keyword(
        {.type = token.type,
         .previous = at_start_ ? std::size_t{MtfParser::SEP} : previous(),
         .last = previous(),
         .next = next,
         .in_layout = statement_keyword() == MtfParser::LAYOUT,
         .in_for = statement_keyword() == MtfParser::FOR,
         .in_minimize = statement_keyword() == MtfParser::MINIMIZE && !in_brackets()});
    const bool is_else = token.type == MtfParser::ELSE && previous() == MtfParser::CLOSE_BRACE;
    if (token.type == MtfParser::OPEN_BRACE && has_body(statement_keyword())) {
      close_brackets(token);
    }
    if (at_start_ && !is_else) {
      start_statement(token);
    }
    at_start_ = false;
    if (token.type == MtfParser::UPDATE && (in_brackets() || is_keyword(statement_keyword()))) {
      emit_operator(part(token, MtfParser::LESS, 0));  // `a <-b` compares with -b
      emit_operator(part(token, MtfParser::MINUS, 1));
    } else if (is_opener(token.type)) {
      open(token);
    } else {
      emit_operator(token);
    }
  }

  static Token part(const Token& token, std::size_t type, std::uint32_t from) {
    Token result = token;
    result.type = type;
    result.begin = token.begin + from;
    result.end = result.begin + 1;
    return result;
  }

  void start_statement(const Token& token) {
    Token separator = separator_;
    if (separator.type != MtfParser::SEMICOLON) {
      separator.begin = out_.empty() ? token.begin : out_.back().end;
      separator.end = separator.begin;
    }
    separator.type = MtfParser::SEP;
    separator_.type = MtfParser::SEP;
    emit(separator);
    statement_ = static_cast<std::uint32_t>(out_.size() - 1);
    set_run(0);
  }

  void emit(Token token) {
    token.statement = statement_;
    out_.push_back(token);
  }

  void emit_operator(const Token& token) {
    const bool prefix = token.type == MtfParser::MINUS && !ends_operand(previous());
    if (prefix || token.type == MtfParser::NOT || token.type == MtfParser::POWER) {
      set_run(levels_.back().run + 1);
      check_depth(token);
    } else if (continues(token.type)) {
      set_run(0);
    }
    emit(token);
  }

  void set_run(std::size_t run) {
    depth_ = depth_ - levels_.back().run + run;
    levels_.back().run = run;
  }

  void check_depth(const Token& token) {
    if (depth_ > kMaxNesting && !problems_.hopeless) {
      problems_ = {.diags = {}, .errors = 0, .at_end = std::nullopt, .hopeless = true};
      problems_.add(
          DiagKind::kNestingLimit, source_.span(token),
          "brackets and operators nest more than " + std::to_string(kMaxNesting) + " deep");
    }
  }

  void open(const Token& token) {
    emit(token);
    levels_.push_back({.opener = token.type,
                       .index = static_cast<std::uint32_t>(out_.size() - 1),
                       .statement = statement_,
                       .indent = indent_,
                       .run = 0});
    ++depth_;
    check_depth(token);
    if (token.type == MtfParser::OPEN_BRACE) {
      at_start_ = true;
      separator_.type = MtfParser::SEP;
    }
  }

  // Closes the innermost bracket with what stands at [begin, end).
  void pop(std::uint32_t begin, std::uint32_t end) {
    const Level level = levels_.back();
    emit({.type = closer_of(level.opener),
          .begin = begin,
          .end = end,
          .statement = 0,
          .partner = 0});
    out_[level.index].partner = static_cast<std::uint32_t>(out_.size() - 1);
    set_run(0);
    levels_.pop_back();
    --depth_;
    statement_ = level.statement;
    // The `}` of a block ends its statement, which only `else` goes on with.
    at_start_ = level.opener == MtfParser::OPEN_BRACE && has_block(statement_keyword());
    separator_.type = MtfParser::SEP;
  }

  // The level that a closing bracket belongs to; 0 if to none.
  [[nodiscard]] std::size_t level_of(std::size_t closer) const {
    for (std::size_t i = levels_.size() - 1; i > 0; --i) {
      const std::size_t opener = levels_[i].opener;
      if (closer_of(opener) == closer) {
        return i;
      }
      const bool fence = opener == MtfParser::EXPR_BEGIN ||
                         (opener == MtfParser::OPEN_BRACE && closer != MtfParser::EXPR_END);
      if (fence) {
        return 0;
      }
    }
    return 0;
  }

  void close(const Token& token) {
    const std::size_t level = level_of(token.type);
    if (level == 0 && !in_brackets()) {
      report(token, "this " + backticked(source_.at(token)) + " closes nothing", {});
      Token stray = token;
      stray.type = MtfParser::UNKNOWN;
      ordinary(stray);
      return;
    }
    if (level == 0) {
      report_unclosed(token);
      pop(token.begin, token.end);
      return;
    }
    if (level + 1 < levels_.size()) {
      report_unclosed(token);
    }
    while (level + 1 < levels_.size()) {
      pop(token.begin, token.begin);
    }
    const bool trailing_comma = token.type != MtfParser::CLOSE_BRACE && out_.size() > 1 &&
                                previous() == MtfParser::COMMA &&
                                ends_operand(out_[out_.size() - 2].type);
    if (trailing_comma) {
      out_.pop_back();
    }
    if (token.type == MtfParser::CLOSE_BRACE) {
      note_indentation();
    }
    pop(token.begin, token.end);
  }

  void end_line() {
    if (in_brackets()) {
      if (const Token* statement = certain_statement(raw_.subspan(at_)); statement != nullptr) {
        close_brackets(*statement);
      }
    }
    if (in_rules()) {
      if (const Token* statement = certain_statement(raw_.subspan(at_)); statement != nullptr) {
        close_rules(*statement);
      }
    }
    if (levels_.back().opener == MtfParser::OPEN_PAREN ||
        levels_.back().opener == MtfParser::OPEN_BRACKET || at_start_) {
      return;
    }
    const bool rule_ends = previous() == MtfParser::STAR && out_.size() > 1 &&
                           out_[out_.size() - 2].type == MtfParser::ARROW;  // io -> *
    at_start_ = rule_ends || !continues(previous());
  }

  // Nothing that `token` begins can stand inside the brackets that are open.
  void close_brackets(const Token& token) {
    if (!in_brackets()) {
      return;
    }
    report_unclosed(token);
    while (in_brackets()) {
      pop(out_.back().end, out_.back().end);
    }
  }

  // Nor inside the braces of a layout.
  void close_rules(const Token& token) {
    report_unclosed(token);
    while (in_rules()) {
      pop(out_.back().end, out_.back().end);
    }
  }

  void end_file(Token token) {
    if (!out_.empty()) {  // where the last line ends is a better place to point at
      token.begin = token.end = out_.back().end;
    }
    if (levels_.size() > 1) {
      problems_.at_end = token.begin;
      report_unclosed(token);
    }
    while (levels_.size() > 1) {
      pop(token.begin, token.end);
    }
    emit(token);
  }

  void report_unclosed(const Token& token) {
    const Level& level = levels_.back();
    const bool misled =
        token.type == MtfParser::EOF && suspect_ != 0 && level.opener == MtfParser::OPEN_BRACE;
    const Token& opener = out_[misled ? suspect_ : level.index];
    const std::string found =
        token.type == MtfParser::EOF ? "the file ends" : "found " + describe(source_, token);
    report(token,
           found + " where `" + std::string(spelling(closer_of(level.opener))) + "` was expected",
           {{.span = source_.span(opener),
             .text = "unclosed " + backticked(source_.at(opener)) + " opened here"}});
  }

  void report(const Token& token, std::string text, std::vector<Note> notes) {
    if (!problems_.enough()) {
      problems_.add(DiagKind::kSyntax, source_.span(token), std::move(text), std::move(notes));
    }
  }

  // A `}` further left than the line of its `{` suggests that it was meant for another one.
  void note_indentation() {
    const bool first = at_ > 0 && raw_[at_ - 1].type == MtfParser::NEWLINE;
    if (suspect_ == 0 && first && indent_ < levels_.back().indent) {
      suspect_ = levels_.back().index;
    }
  }

  [[nodiscard]] bool in_brackets() const {
    return levels_.size() > 1 && levels_.back().opener != MtfParser::OPEN_BRACE;
  }

  [[nodiscard]] bool in_rules() const {
    return levels_.back().opener == MtfParser::OPEN_BRACE &&
           has_layout_body(out_[levels_.back().statement + 1].type);
  }

  [[nodiscard]] bool in_string() const {
    return std::ranges::find(levels_, MtfParser::EXPR_BEGIN, &Level::opener) != levels_.end();
  }

  [[nodiscard]] std::size_t previous() const {
    return out_.empty() ? std::size_t{MtfParser::SEP} : out_.back().type;
  }

  // The first word of the innermost statement.
  [[nodiscard]] std::size_t statement_keyword() const {
    return statement_ + 1 < out_.size() ? out_[statement_ + 1].type : MtfParser::EOF;
  }

  const Source& source_;
  std::span<const Token> raw_;
  Problems& problems_;
  std::size_t at_ = 0;
  std::vector<Token> out_;
  std::vector<Level> levels_;
  std::size_t depth_ = 0;
  std::uint32_t statement_ = 0;
  std::uint32_t indent_ = 0;   // of the line being read
  std::uint32_t suspect_ = 0;  // a `{` whose `}` stands too far left; 0: none
  bool at_start_ = true;       // a statement starts with the next token
  Token separator_{.type = MtfParser::SEP, .begin = 0, .end = 0, .statement = 0, .partner = 0};
};

}  // namespace

std::vector<Token> filter(const Source& source, std::span<const Token> raw, Problems& problems) {
  return Filter(source, raw, problems).run();
}

}  // namespace mtf::parsing
