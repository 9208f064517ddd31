// Names, numbers and strings.

#include <charconv>
#include <limits>

#include "frontend/parse/build.h"
#include "ir/support/number.h"
#include "ir/support/text/parse_number.h"
#include "ir/support/utf8.h"

namespace mtf::parsing {
namespace {

std::string without_underscores(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  return digits;
}

// The character that `\` and `escape` stand for; 0 if none.
char unescape(char escape) {
  switch (escape) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case '"':
    case '\\':
    case '{':
    case '}':
      return escape;
    default:
      return 0;
  }
}

std::string build_piece(const Builder& build, const Token& token) {
  const std::string_view raw = build.source.at(token);
  std::string text;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      text += raw[i];
      continue;
    }
    ++i;
    const char character = unescape(raw[i]);
    if (character == 0) {
      const auto begin = static_cast<std::uint32_t>(token.begin + i - 1);
      std::size_t end = i + 1;
      while (end < raw.size() && !begins_code_point(raw[end])) {
        ++end;
      }
      build.error(build.source.span(begin, static_cast<std::uint32_t>(token.begin + end)),
                  backticked(raw.substr(i - 1, end - i + 1)) +
                      R"( means nothing in a string; there are \" \\ \n \t \{ \})");
      return text;
    }
    text += character;
  }
  return text;
}

std::string build_format(const Builder& build, const Token& token) {
  const std::string_view text = build.source.at(token).substr(1);  // behind the colon
  if (!number_format(text)) {
    build.error(build.source.span(token),
                backticked(text) +
                    " is not a number format; `{x:.4f}`, `{x:.2e}`, `{x:8.3g}`, "
                    "`{x:.1%}` and `{n:,d}` are");
    return "";
  }
  return std::string(text);
}

}  // namespace

ast::Name name_in(const Builder& build, const Tree* parent) {
  return build_name(build, first<MtfParser::NameContext>(parent));
}

ast::Name build_name(const Builder& build, const Tree* context) {
  const Token& token = build.token(context->start);
  return {.text = std::string(build.source.at(token)), .span = build.source.span(token)};
}

ast::Expr build_number(const Builder& build, const Token& token) {
  const SourceSpan span = build.source.span(token);
  const std::string text = without_underscores(build.source.at(token));
  if (token.type == MtfParser::INT) {
    const auto value = parse_number<std::int64_t>(text);
    if (!value) {
      build.error(span, backticked(build.source.at(token)) + " does not fit in 64 bits",
                  DiagKind::kOverflow);
    }
    return {.span = span, .node = ast::Int{.value = value.value_or(0)}};
  }
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc::result_out_of_range) {
    build.error(span, backticked(build.source.at(token)) + " does not fit in a 64-bit float",
                DiagKind::kOverflow);
  }
  return {.span = span, .node = ast::Float{.value = value}};
}

std::optional<ast::Expr> build_least_integer(const Builder& build, const Token& sign,
                                             const Token& digits) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  if ("-" + without_underscores(build.source.at(digits)) != std::to_string(kLeast)) {
    return std::nullopt;
  }
  return ast::Expr{.span = build.source.span(sign.begin, digits.end),
                   .node = ast::Int{.value = kLeast}};
}

ast::Expr build_string(const Builder& build, const Tree* context) {
  ast::String string;
  for (antlr4::tree::ParseTree* child : context->children) {
    if (auto* expr = as<MtfParser::ExprContext>(child); expr != nullptr) {
      string.parts.push_back({.node = build_expr(build, expr)});
      continue;
    }
    const Token& token = *build.leaf(child);
    if (token.type == MtfParser::TEXT) {
      string.parts.push_back({.node = build_piece(build, token)});
    } else if (token.type == MtfParser::FORMAT && !string.parts.empty()) {
      string.parts.back().format = build_format(build, token);
    }
  }
  return {.span = build.span(context), .node = std::move(string)};
}

ast::Name build_text(const Builder& build, const Tree* context) {
  const ast::Expr string = build_string(build, context);
  const std::optional<std::string> text = ast::plain_text(string);
  if (!text) {
    build.error(string.span, "this string must be the same in every run, without `{ }`");
  }
  return {.text = text.value_or(""), .span = string.span};
}

std::optional<ast::Name> name_of(const Builder& build, const ast::Expr& expr, std::string_view what,
                                 std::string_view hint) {
  const ast::NameRef* name = ast::as_name(expr);
  if (name == nullptr || name->text.size() != expr.span.end - expr.span.begin) {
    const std::string_view text =
        build.source.text.substr(expr.span.begin, expr.span.end - expr.span.begin);
    build.error(expr.span, std::string(what) + " is a name, found " + backticked(text) +
                               std::string(name == nullptr ? hint : ""));
    return std::nullopt;
  }
  return ast::Name{.text = name->text, .span = expr.span};
}

}  // namespace mtf::parsing
