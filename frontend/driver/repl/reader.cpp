#include "frontend/driver/repl/reader.h"

#include <algorithm>

#include "frontend/parse/parse.h"

namespace mtf {
namespace {

// Beyond, the parser is asked when the text has grown by a tenth, not for each line.
constexpr std::size_t kAskedEachLine = 200;

std::string_view first_word(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return {};
  }
  std::size_t end = begin;
  while (end < text.size() && ((text[end] >= 'a' && text[end] <= 'z') || text[end] == '_')) {
    ++end;
  }
  return text.substr(begin, end - begin);
}

bool is_command(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin != std::string_view::npos && text[begin] == ':';
}

}  // namespace

bool Reader::is_whole() {
  if (is_command(*text_)) {
    return true;
  }
  if (own_ > kAskedEachLine && own_ < checked_ + checked_ / 10) {
    return false;
  }
  checked_ = own_;
  return !needs_more(*text_);
}

Chunk Reader::release() {
  Chunk chunk{.line = begin_, .text = *std::move(text_)};
  text_.reset();
  may_have_else_ = false;
  return chunk;
}

std::vector<Chunk> Reader::add(std::string_view line, bool typed) {
  ++lines_;
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  const bool is_prompted = line.starts_with(kPrompt) || line.starts_with(kMorePrompt) ||
                           line == kPrompt.substr(0, kPrompt.size() - 1);
  std::vector<Chunk> whole;
  if (is_prompted) {
    is_transcript_ = true;
    const bool is_next = line.starts_with(kPrompt.substr(0, kPrompt.size() - 1));
    if (is_next && text_) {  // what stood before it was whole to those who answered
      whole.push_back(release());
    }
    line.remove_prefix(std::min(line.size(), kPrompt.size()));
  } else if (is_transcript_ && !typed) {
    return whole;
  }
  if (text_ && line.starts_with(':')) {  // no line of a statement begins so
    whole.push_back(release());
  }
  const bool is_blank = line.find_first_not_of(" \t") == std::string_view::npos;
  if (may_have_else_) {
    if (first_word(line) != "else") {
      whole.push_back(release());
    }
    may_have_else_ = false;
  }
  if (!text_) {
    if (is_blank) {
      return whole;
    }
    text_ = "";
    begin_ = lines_;
    own_ = 0;
    checked_ = 0;
  }
  *text_ += (own_ == 0 ? "" : "\n") + std::string(line);
  ++own_;
  if (is_whole()) {
    may_have_else_ = first_word(*text_) == "if" && !(by_hand_ && own_ == 1);
    if (!may_have_else_) {
      whole.push_back(release());
    }
  }
  return whole;
}

std::optional<Chunk> Reader::rest() {
  return text_ ? std::optional(release()) : std::nullopt;
}

}  // namespace mtf
