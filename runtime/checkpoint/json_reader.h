// JSON, read once from left to right. Nothing is kept but what is asked for, so that a hostile text
// costs no more memory than it has bytes.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mtf {

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  // A sign, behind white space.
  [[nodiscard]] bool take(char sign);
  // nullopt: something else stands here.
  [[nodiscard]] std::optional<std::string> string();
  [[nodiscard]] std::optional<std::int64_t> whole();  // not negative
  // Any value, of at most kMaxDepth brackets in each other.
  [[nodiscard]] bool skip(int depth = 0);
  [[nodiscard]] bool at_end();
  [[nodiscard]] std::size_t left() const { return text_.size(); }  // bytes that are not read yet

  // Calls `read(key)` with the reader behind the colon; false from it ends the object, badly.
  template <typename F>
  [[nodiscard]] bool object(F&& read) {
    return list('{', '}', [&] {
      const std::optional<std::string> key = string();
      return key && take(':') && read(*key);
    });
  }
  template <typename F>
  [[nodiscard]] bool array(F&& read) {
    return list('[', ']', read);
  }

 private:
  static constexpr int kMaxDepth = 32;

  void skip_space();
  bool append_escaped(std::string& out);
  std::optional<std::uint32_t> hex4();
  bool skip_word();

  template <typename F>
  bool list(char begin, char end, F&& read) {
    if (!take(begin)) {
      return false;
    }
    if (take(end)) {
      return true;
    }
    do {
      if (!read()) {
        return false;
      }
    } while (take(','));
    return take(end);
  }

  std::string_view text_;  // what is left
};

// The text as a JSON string, with its quotes.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace mtf
