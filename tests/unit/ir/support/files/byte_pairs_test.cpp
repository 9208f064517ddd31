// Vocabularies of byte pairs are those of their definition, whatever the learner keeps in between.

#include "ir/support/files/byte_pairs.h"

#include <algorithm>
#include <map>
#include <random>

#include <catch2/catch.hpp>

namespace mtf {
namespace {

// Of few letters, so that pairs overlap and counts are equal; one word if it has no blank.
std::string drawn_text(std::mt19937& draw, std::string_view letters, std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i) {
    text += letters[draw() % letters.size()];
  }
  return text;
}

std::vector<Tokens> words_of(std::string_view text) {
  std::vector<Tokens> words(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && text[i] == ' ' && text[i - 1] != ' ') {
      words.emplace_back();
    }
    words.back().push_back(static_cast<Token>(text[i]));
  }
  return words;
}

Tokens with_pair_joined(const Tokens& word, TokenPair pair, Token token) {
  Tokens joined;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool is_pair = i + 1 < word.size() && TokenPair(word[i], word[i + 1]) == pair;
    joined.push_back(is_pair ? token : word[i]);
    i += is_pair ? 1 : 0;
  }
  return joined;
}

// Counts everything anew for each pair; the words are joined by then.
std::vector<TokenPair> learned_slowly(std::vector<Tokens>& words, std::size_t count) {
  std::vector<TokenPair> learned;
  while (learned.size() < count) {
    std::map<TokenPair, std::int64_t> counts;
    for (const Tokens& word : words) {
      for (std::size_t i = 1; i < word.size(); ++i) {
        ++counts[{word[i - 1], word[i]}];
      }
    }
    const auto best =
        std::ranges::max_element(counts, {}, [](const auto& use) { return use.second; });
    if (best == counts.end() || best->second < 2) {
      break;
    }
    const auto token = static_cast<Token>(kByteTokens + static_cast<Token>(learned.size()));
    for (Tokens& word : words) {
      word = with_pair_joined(word, best->first, token);
    }
    learned.push_back(best->first);
  }
  return learned;
}

TEST_CASE("pairs are learned, and texts made of them, as if all were counted anew each time") {
  std::mt19937 draw(7);
  for (const std::string_view letters : {"a", "ab", "ab ", "abc ", "abcdefgh  "}) {
    for (const std::size_t length : {0U, 1U, 2U, 7U, 40U, 400U}) {
      const std::string text = drawn_text(draw, letters, length);
      INFO(text);
      std::vector<Tokens> words = words_of(text);
      const std::vector<TokenPair> pairs = learned_slowly(words, 30);
      CHECK(learn_pairs(text, 30) == pairs);
      Tokens whole;
      for (const Tokens& word : words) {
        whole.insert(whole.end(), word.begin(), word.end());
      }
      Tokens encoded;
      PairEncoder(pairs).encode(text, [&](const Tokens& word) {
        encoded.insert(encoded.end(), word.begin(), word.end());
      });
      CHECK(encoded == whole);
    }
  }
}

}  // namespace
}  // namespace mtf
