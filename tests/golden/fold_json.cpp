#include "tests/golden/fold_json.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

namespace mtf::golden {
namespace {

constexpr std::size_t kWidth = 120;

// The places outside of quoted texts where one of the letters stands, brackets inside left out.
std::vector<std::size_t> places_of(std::string_view text, std::string_view letters) {
  std::vector<std::size_t> places;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (quoted) {
      quoted = letter != '"';
      i += letter == '\\' ? 1 : 0;
      continue;
    }
    quoted = letter == '"';
    if (depth == 0 && letters.find(letter) != std::string_view::npos) {
      places.push_back(i);
    }
    depth += letter == '{' || letter == '[' ? 1 : letter == '}' || letter == ']' ? -1 : 0;
  }
  return places;
}

// `text`: a value, or a member with its name. What is short shares a line.
std::string folded(std::string_view text, std::size_t indent) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::vector<std::size_t> open = places_of(text, "{[");
  if (indent + text.size() <= kWidth || open.empty()) {
    return std::string(text);
  }
  const std::string_view inside = text.substr(open[0] + 1, text.size() - open[0] - 2);
  std::vector<std::size_t> ends = places_of(inside, ",");
  ends.push_back(inside.size());
  std::string result(text.substr(0, open[0] + 1));
  std::string line;
  const auto end_line = [&] {
    result += line.empty() ? "" : "\n" + std::string(indent + 2, ' ') + line;
    line.clear();
  };
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    const std::string part =
        folded(inside.substr(begin, end - begin), indent + 2) + (end < inside.size() ? "," : "");
    const bool is_one_line = part.find('\n') == std::string::npos;
    if (!is_one_line || indent + 3 + line.size() + part.size() > kWidth) {
      end_line();
    }
    line += (line.empty() ? "" : " ") + part;
    if (!is_one_line) {
      end_line();
    }
    begin = end + 1;
  }
  end_line();
  return result + "\n" + std::string(indent, ' ') + text.back();
}

}  // namespace

std::string with_json_folded(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool is_object = line.starts_with("{\"") && line.ends_with("}");
    result += (is_object ? folded(line, 0) : line) + (lines.eof() ? "" : "\n");
  }
  return result;
}

}  // namespace mtf::golden
