#include "tests/fuzz/shrink.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/fuzz/tokens.h"

namespace fuzz {
namespace {

using Holds = std::function<bool(const std::string&)>;

std::string text_of(const std::vector<std::string>& parts) {
  return joined(parts);
}

// Takes out runs of parts, long ones first.
std::vector<std::string> thinned(std::vector<std::string> parts, std::size_t& tries,
                                 const Holds& holds) {
  for (std::size_t length = std::max<std::size_t>(parts.size() / 2, 1); length > 0; length /= 2) {
    for (std::size_t at = 0; at < parts.size() && tries > 0;) {
      std::vector<std::string> fewer = parts;
      const auto begin = fewer.begin() + static_cast<std::ptrdiff_t>(at);
      fewer.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(length, parts.size() - at)));
      --tries;
      if (holds(text_of(fewer))) {
        parts = std::move(fewer);
      } else {
        at += length;
      }
    }
  }
  return parts;
}

std::vector<std::string> token_texts(const std::string& text) {
  std::vector<std::string> parts;
  for (const Token& token : tokens_of(text)) {
    parts.push_back(token.text);
  }
  return parts;
}

}  // namespace

std::string shrink(std::string text, std::size_t tries, const Holds& holds) {
  for (std::size_t before = text.size() + 1; text.size() < before && tries > 0;) {
    before = text.size();
    text = text_of(thinned(lines_of(text), tries, holds));
    text = text_of(thinned(token_texts(text), tries, holds));
  }
  return text;
}

}  // namespace fuzz
