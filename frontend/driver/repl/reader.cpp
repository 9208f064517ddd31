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

// Whether it is whole, and the next line cannot go on with it.
bool Reader::is_over() {
  if (!is_whole()) {
    return false;
  }
  const bool is_answered = by_hand_ && own_ == 1;
  may_have_else_ = !is_answered && text_->find("if") != std::string::npos && may_have_else(*text_);
  return !may_have_else_;
}

Chunk Reader::release() {
  Chunk chunk{.line = begin_, .text = *std::move(text_)};
  text_.reset();
  may_have_else_ = false;
  return chunk;
}

// Of a line of a transcript what was typed; false: nothing.
bool Reader::take_prompt(std::string_view& line, bool typed, std::vector<Chunk>& whole) {
  constexpr std::string_view kBare = kPrompt.substr(0, kPrompt.size() - 1);
  if (!line.starts_with(kPrompt) && !line.starts_with(kMorePrompt) && line != kBare) {
    return typed || !is_transcript_;
  }
  is_transcript_ = true;
  if (line.starts_with(kBare) && text_) {  // what stood before it was whole to those who answered
    whole.push_back(release());
  }
  line.remove_prefix(std::min(line.size(), kPrompt.size()));
  return true;
}

std::vector<Chunk> Reader::add(std::string_view line, bool typed) {
  ++lines_;
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  std::vector<Chunk> whole;
  if (!take_prompt(line, typed, whole)) {
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
  if (is_over()) {
    whole.push_back(release());
  }
  return whole;
}

void Reader::forget() {
  text_.reset();
  may_have_else_ = false;
}

std::vector<Chunk> Reader::whole() {
  return may_have_else_ ? std::vector{release()} : std::vector<Chunk>();
}

std::optional<Chunk> Reader::rest() {
  return text_ ? std::optional(release()) : std::nullopt;
}

}  // namespace mtf
