#include "frontend/driver/repl/script/words.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

namespace mtf {
namespace {

// The text with blanks in place of comments and of what strings say, but for the expressions in
// them.
class CodeText {
 public:
  explicit CodeText(std::string_view text) : text_(text) {}

  std::string run() {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      i = is_in_string() ? in_string(i) : in_code(i);
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool is_in_string() const { return !braces_.empty() && braces_.back() == 0; }

  void blank(std::size_t count) { result_.append(count, ' '); }

  // Both give the place of the last letter that they have dealt with.
  std::size_t in_string(std::size_t i) {
    if (text_[i] == '\\' && i + 1 < text_.size()) {
      blank(2);
      return i + 1;
    }
    if (text_[i] == '{') {
      braces_.back() = 1;
    } else if (text_[i] == '"' || text_[i] == '\n') {
      braces_.pop_back();
    }
    blank(1);
    return i;
  }

  std::size_t in_code(std::size_t i) {
    const char letter = text_[i];
    if (letter == '#') {
      const std::size_t end = std::min(text_.find('\n', i), text_.size());
      blank(end - i);
      return end - 1;
    }
    if (letter == '"') {
      braces_.push_back(0);
    } else if (!braces_.empty() && (letter == '{' || letter == '}')) {
      braces_.back() += letter == '{' ? 1 : -1;
    }
    result_ += letter == '"' ? ' ' : letter;
    return i;
  }

  std::string_view text_;
  std::string result_;
  std::vector<int>
      braces_;  // of each string that is open: those of the expression in it; 0: its text
};

// x.name, and not 0..name
bool is_member(std::string_view code, std::size_t begin) {
  return begin > 0 && code[begin - 1] == '.' && (begin == 1 || code[begin - 2] != '.');
}

// name = x, and not name == x
bool is_label(std::string_view code, std::size_t end) {
  const std::size_t sign = code.find_first_not_of(" \t", end);
  return sign != std::string_view::npos && code[sign] == '=' && code.substr(sign, 2) != "==";
}

template <typename Keep>
Words words_in(std::string_view text, const Keep& keep) {
  Words words;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = begin;
    while (end < text.size() && is_of_word(text[end])) {
      ++end;
    }
    if (end > begin && keep(begin, end)) {
      words.emplace(text.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return words;
}

}  // namespace

bool is_of_word(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return std::isalnum(byte) != 0 || letter == '_' || byte >= 0x80;
}

Words words_of(std::string_view text) {
  return words_in(text, [](std::size_t /*begin*/, std::size_t /*end*/) { return true; });
}

Words names_read_in(std::string_view text) {
  const std::string code = CodeText(text).run();
  return words_in(code, [&code](std::size_t begin, std::size_t end) {
    return !is_member(code, begin) && !is_label(code, end);
  });
}

}  // namespace mtf
