#include "tests/fuzz/tokens.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace fuzz {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

template <typename Test>
std::size_t while_true(std::string_view text, std::size_t at, const Test& test) {
  while (at < text.size() && test(text[at])) {
    ++at;
  }
  return at;
}

std::size_t end_of_string(std::string_view text) {
  std::size_t at = 1;
  while (at < text.size() && text[at] != '"' && text[at] != '\n') {
    at += text[at] == '\\' ? 2 : 1;
  }
  return std::min(at + 1, text.size());
}

std::size_t end_of_sign(std::string_view text) {
  constexpr std::array kLong =
      std::to_array<std::string_view>({"->", "<-", "..", "**", "//", "==", "!=", "<=", ">="});
  return std::ranges::find(kLong, text.substr(0, 2)) == kLong.end() ? 1 : 2;
}

Token first_token(std::string_view text) {
  const char c = text.front();
  const auto taken = [&](Kind kind, std::size_t length) {
    return Token{.kind = kind, .text = std::string(text.substr(0, length))};
  };
  if (c == '\n') {
    return taken(Kind::kLineEnd, 1);
  }
  if (c == ' ' || c == '\t' || c == '\r') {
    return taken(Kind::kSpace,
                 while_true(text, 0, [](char d) { return d == ' ' || d == '\t' || d == '\r'; }));
  }
  if (c == '#') {
    return taken(Kind::kComment, while_true(text, 0, [](char d) { return d != '\n'; }));
  }
  if (c == '"') {
    return taken(Kind::kString, end_of_string(text));
  }
  if (is_digit(c)) {
    std::size_t end = while_true(text, 0, is_word);
    if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) {
      end = while_true(text, end + 1, is_word);
    }
    return taken(Kind::kNumber, end);
  }
  return is_word(c) ? taken(Kind::kWord, while_true(text, 0, is_word))
                    : taken(Kind::kSign, end_of_sign(text));
}

// How much deeper the text is at its end.
int depth_of(std::string_view line) {
  int depth = 0;
  for (const Token& token : tokens_of(line)) {
    if (token.kind == Kind::kSign) {
      depth += token.text == "{" || token.text == "[" || token.text == "(" ? 1 : 0;
      depth -= token.text == "}" || token.text == "]" || token.text == ")" ? 1 : 0;
    }
  }
  return depth;
}

}  // namespace

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  while (!text.empty()) {
    tokens.push_back(first_token(text));
    text.remove_prefix(tokens.back().text.size());
  }
  return tokens;
}

std::string joined(const std::vector<Token>& tokens) {
  std::string text;
  for (const Token& token : tokens) {
    text += token.text;
  }
  return text;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
    lines.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line;
  }
  return text;
}

std::vector<Chunk> chunks_of(const std::vector<std::string>& lines) {
  std::vector<int> deltas;
  for (const std::string& line : lines) {
    deltas.push_back(depth_of(line));
  }
  std::vector<Chunk> chunks;
  for (std::size_t begin = 0; begin < lines.size(); ++begin) {
    int depth = 0;
    for (std::size_t end = begin; end < lines.size() && depth >= 0; ++end) {
      depth += deltas[end];
      if (depth == 0) {
        chunks.push_back({.begin = begin, .end = end + 1});
        break;
      }
    }
  }
  return chunks;
}

}  // namespace fuzz
