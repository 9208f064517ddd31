// Lines, put together to whole statements. The parser decides what is whole.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mtf {

inline constexpr std::string_view kPrompt = "mtf> ";
inline constexpr std::string_view kMorePrompt = "...> ";

// What is done at once: statements, or a command.
struct Chunk {
  std::size_t line = 1;  // of its first
  std::string text;
};

class Reader {
 public:
  // `by_hand`: somebody waits for the answer to what is whole on one line.
  explicit Reader(bool by_hand) : by_hand_(by_hand) {}

  // What is whole now, at most two chunks. Of a transcript only what was typed is read: once a line
  // began with a prompt, those without one are answers.
  // `typed`: by somebody who reads the answers, so that it is none.
  std::vector<Chunk> add(std::string_view line, bool typed = false);
  // What is left at the end of the text.
  std::optional<Chunk> rest();
  // The same, if it is whole and only might go on; else none.
  std::vector<Chunk> whole();
  // Ctrl-C at a prompt.
  void forget();
  // Whether a statement has begun and is not whole.
  [[nodiscard]] bool is_inside() const { return text_.has_value(); }

 private:
  [[nodiscard]] bool is_whole();
  [[nodiscard]] bool is_over();
  bool take_prompt(std::string_view& line, bool typed, std::vector<Chunk>& whole);
  Chunk release();

  bool by_hand_;
  bool is_transcript_ = false;
  std::size_t lines_ = 0;  // read so far
  std::size_t begin_ = 1;
  std::size_t own_ = 0;      // lines of `text_`
  std::size_t checked_ = 0;  // how many it had when the parser was last asked
  bool may_have_else_ = false;
  std::optional<std::string> text_;
};

}  // namespace mtf
