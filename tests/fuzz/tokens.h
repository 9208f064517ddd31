// A program's text in pieces: tokens as far as they can be told without the grammar, and groups of
// lines that are statements.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

enum class Kind : std::uint8_t { kSpace, kLineEnd, kComment, kString, kNumber, kWord, kSign };

struct Token {
  Kind kind{};
  std::string text;
};

// Their texts, joined, are the text again.
[[nodiscard]] std::vector<Token> tokens_of(std::string_view text);
[[nodiscard]] std::string joined(const std::vector<Token>& tokens);

[[nodiscard]] std::vector<std::string> lines_of(std::string_view text);  // each with its end
[[nodiscard]] std::string joined(const std::vector<std::string>& lines);

// Lines [begin, end) that open and close the same brackets: a statement, at any depth.
struct Chunk {
  std::size_t begin = 0;
  std::size_t end = 0;
};
[[nodiscard]] std::vector<Chunk> chunks_of(const std::vector<std::string>& lines);

}  // namespace fuzz
