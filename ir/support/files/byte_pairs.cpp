#include "ir/support/files/byte_pairs.h"

#include <algorithm>
#include <charconv>

namespace mtf {
namespace {

bool is_blank(char letter) {
  return letter == ' ' || letter == '\n' || letter == '\t' || letter == '\r';
}

// Calls `f` with each word, the blanks before it included.
template <typename F>
void for_each_word(std::string_view text, F&& f) {
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= text.size(); ++i) {
    if (i == text.size() || (is_blank(text[i]) && !is_blank(text[i - 1]))) {
      f(text.substr(begin, i - begin));
      begin = i;
    }
  }
}

Tokens tokens_of_bytes(std::string_view word) {
  Tokens tokens;
  for (const char letter : word) {
    tokens.push_back(static_cast<std::uint8_t>(letter));
  }
  return tokens;
}

// The word with each of the pair, from the left, as one token.
Tokens merged(const Tokens& word, TokenPair pair, Token token) {
  Tokens result;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool is_pair = i + 1 < word.size() && word[i] == pair.first && word[i + 1] == pair.second;
    result.push_back(is_pair ? token : word[i]);
    i += is_pair ? 1 : 0;
  }
  return result;
}

class PairLearner {
 public:
  explicit PairLearner(std::string_view text) {
    std::unordered_map<std::string_view, std::int64_t> counts;
    for_each_word(text, [&](std::string_view word) { ++counts[word]; });
    const std::map<std::string_view, std::int64_t> words(counts.begin(), counts.end());
    for (const auto& [word, count] : words) {
      words_.push_back({.tokens = tokens_of_bytes(word), .count = count});
      count_pairs(words_.size() - 1, 1);
    }
  }

  // Fewer where no pair is there twice.
  std::vector<TokenPair> learn(std::int64_t count) {
    std::vector<TokenPair> learned;
    for (Token token = kByteTokens; token < kByteTokens + count; ++token) {
      const auto best = std::ranges::max_element(pairs_, [](const auto& a, const auto& b) {
        return a.second.count < b.second.count;  // the first of equal ones stays
      });
      if (best == pairs_.end() || best->second.count < 2) {
        break;
      }
      const TokenPair pair = best->first;
      std::vector<std::size_t> in = std::move(best->second.words);
      std::ranges::sort(in);
      in.erase(std::unique(in.begin(), in.end()), in.end());
      for (const std::size_t word : in) {
        count_pairs(word, -1);
        words_[word].tokens = merged(words_[word].tokens, pair, token);
        count_pairs(word, 1);
      }
      pairs_.erase(pair);
      learned.push_back(pair);
    }
    return learned;
  }

 private:
  struct Word {
    Tokens tokens;
    std::int64_t count = 0;
  };
  struct PairUse {
    std::int64_t count = 0;
    std::vector<std::size_t> words;  // that have it, or had it
  };

  void count_pairs(std::size_t number, std::int64_t sign) {
    const Word& word = words_[number];
    for (std::size_t i = 0; i + 1 < word.tokens.size(); ++i) {
      PairUse& use = pairs_[{word.tokens[i], word.tokens[i + 1]}];
      use.count += sign * word.count;
      if (sign > 0) {
        use.words.push_back(number);
      }
    }
  }

  std::vector<Word> words_;
  std::map<TokenPair, PairUse> pairs_;
};

}  // namespace

std::vector<TokenPair> learn_pairs(std::string_view text, std::int64_t count) {
  return PairLearner(text).learn(count);
}

std::string text_of_pairs(const std::vector<TokenPair>& pairs) {
  std::string text;
  for (const auto& [first, second] : pairs) {
    text += std::to_string(first) + " " + std::to_string(second) + "\n";
  }
  return text;
}

std::optional<std::vector<TokenPair>> read_pairs(std::string_view text) {
  std::vector<TokenPair> pairs;
  const auto number = [&text](char end) -> std::optional<Token> {
    Token token = 0;
    const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), token);
    text.remove_prefix(static_cast<std::size_t>(next - text.data()));
    if (error != std::errc{} || !text.starts_with(end)) {
      return std::nullopt;
    }
    text.remove_prefix(1);
    return token;
  };
  while (!text.empty()) {
    const std::optional<Token> first = number(' ');
    const std::optional<Token> second = first ? number('\n') : std::nullopt;
    const auto known = static_cast<Token>(kByteTokens + static_cast<Token>(pairs.size()));
    if (!second || *first < 0 || *first >= known || *second < 0 || *second >= known) {
      return std::nullopt;
    }
    pairs.emplace_back(*first, *second);
  }
  return pairs;
}

PairEncoder::PairEncoder(const std::vector<TokenPair>& pairs) {
  for (const TokenPair& pair : pairs) {
    tokens_.try_emplace(pair, kByteTokens + static_cast<Token>(tokens_.size()));
  }
}

void PairEncoder::encode(std::string_view text, const std::function<void(const Tokens&)>& take) {
  for_each_word(text, [&](std::string_view word) { take(of_word(word)); });
}

const Tokens& PairEncoder::of_word(std::string_view word) {
  constexpr std::size_t kMostWords = std::size_t{1} << 20U;
  const auto known = words_.find(word);
  if (known != words_.end()) {
    return known->second;
  }
  if (words_.size() >= kMostWords) {
    words_.clear();
  }
  return words_.emplace(word, joined(tokens_of_bytes(word))).first->second;
}

Tokens PairEncoder::joined(Tokens word) const {
  while (true) {
    auto first = tokens_.end();
    for (std::size_t i = 0; i + 1 < word.size(); ++i) {
      const auto found = tokens_.find({word[i], word[i + 1]});
      const bool is_earlier =
          found != tokens_.end() && (first == tokens_.end() || found->second < first->second);
      first = is_earlier ? found : first;
    }
    if (first == tokens_.end()) {
      return word;
    }
    word = merged(word, first->first, first->second);
  }
}

std::vector<std::string> bytes_of_tokens(const std::vector<TokenPair>& pairs, std::size_t most) {
  std::vector<std::string> bytes;
  bytes.reserve(kByteTokens + pairs.size());
  for (Token token = 0; token < kByteTokens; ++token) {
    bytes.emplace_back(1, static_cast<char>(token));
  }
  for (const auto& [first, second] : pairs) {
    std::string both =
        bytes[static_cast<std::size_t>(first)] + bytes[static_cast<std::size_t>(second)];
    bytes.push_back(both.size() > most ? "" : std::move(both));
  }
  return bytes;
}

}  // namespace mtf
