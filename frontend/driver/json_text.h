// JSON written from left to right, for what is long or of a shape of its own: no tree is built.

#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mtf {

class JsonText {
 public:
  JsonText& object() { return open('{', '}'); }
  JsonText& array() { return open('[', ']'); }
  JsonText& close();
  JsonText& key(std::string_view name);

  JsonText& value(std::string_view text);
  JsonText& value(const char* text) { return value(std::string_view(text)); }
  JsonText& value(double number);  // null for what is no number
  JsonText& value(bool flag) { return raw(flag ? "true" : "false"); }
  JsonText& value(std::integral auto number) { return raw(std::to_string(number)); }
  JsonText& null() { return raw("null"); }
  template <typename T>
  JsonText& member(std::string_view name, const T& what) {
    return key(name).value(what);
  }

  // Something that is JSON already.
  JsonText& raw(std::string_view json);
  // A line end, where a reader that goes line by line wants one.
  JsonText& line();

  // What was written since the last call.
  [[nodiscard]] std::string take();

 private:
  JsonText& open(char bracket, char closing);
  void separate();

  std::string text_;
  std::vector<char> closing_;  // of what is open
  bool first_ = true;          // nothing stands in it yet
  bool line_ = false;          // the next element begins one
};

// In quotes. Bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string json_quoted(std::string_view text);

}  // namespace mtf
