#include "frontend/format/gaps.h"

#include <algorithm>

namespace mtf::layouting {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\n";
constexpr std::string_view kNoBreakSpace = "\xC2\xA0";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::size_t end_of_line(std::string_view source, std::size_t begin) {
  return std::min(source.find('\n', begin), source.size());
}

std::string comment_at(std::string_view source, std::size_t begin) {
  std::string_view text = source.substr(begin, end_of_line(source, begin) - begin);
  text = text.substr(0, text.find_last_not_of(kBlanks) + 1);
  return std::string(text);
}

}  // namespace

Gap gap_of(std::string_view source, std::uint32_t begin, std::uint32_t end) {
  Gap gap;
  std::size_t lines = 0;  // since the last comment
  for (std::size_t at = begin; at < end; ++at) {
    if (source[at] == '#') {
      gap.comments.push_back({.text = comment_at(source, at),
                              .behind = !gap.has_line && gap.comments.empty() && begin > 0,
                              .apart = lines > 1});
      at = end_of_line(source, at) - 1;
      lines = 0;
    } else if (source[at] == '\n') {
      ++lines;
      gap.has_line = true;
    }
  }
  gap.apart = lines > 1;
  return gap;
}

std::uint32_t next_word(std::string_view source, std::uint32_t begin) {
  std::size_t at = begin;
  while (at < source.size()) {
    const std::string_view rest = source.substr(at);
    if (rest.front() == '#') {
      at = end_of_line(source, at);
    } else if (kBlanks.find(rest.front()) != std::string_view::npos) {
      ++at;
    } else if (rest.starts_with(kNoBreakSpace)) {
      at += kNoBreakSpace.size();
    } else if (rest.starts_with(kByteOrderMark)) {
      at += kByteOrderMark.size();
    } else {
      break;
    }
  }
  return static_cast<std::uint32_t>(at);
}

}  // namespace mtf::layouting
