#include "ir/support/files/byte_pairs.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <queue>

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
    for (const auto& [word, count] : counts) {
      words_.push_back({.tokens = tokens_of_bytes(word), .count = count});
      const Tokens& tokens = words_.back().tokens;
      for (std::size_t i = 1; i < tokens.size(); ++i) {
        count_pair(words_.size() - 1, {tokens[i - 1], tokens[i]}, 1);
      }
    }
    rank_new_pairs();
  }

  // Fewer where no pair is there twice.
  std::vector<TokenPair> learn(std::int64_t count) {
    std::vector<TokenPair> learned;
    for (Token token = kByteTokens; token < kByteTokens + count; ++token) {
      const std::optional<TokenPair> pair = most_frequent();
      if (!pair) {
        break;
      }
      const std::vector<std::size_t> in = std::move(pairs_[*pair].words);
      for (const std::size_t word : in) {
        join(word, *pair, token);
      }
      pairs_.erase(*pair);
      rank_new_pairs();
      learned.push_back(*pair);
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
    std::vector<std::size_t> words;  // that have it, or had it, each once
  };
  struct Ranked {
    std::int64_t count = 0;
    TokenPair pair;

    bool operator<(const Ranked& other) const {  // of equal ones the least pair is the greatest
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  void count_pair(std::size_t word, TokenPair pair, std::int64_t sign) {
    const auto [place, is_new] = pairs_.try_emplace(pair);
    PairUse& use = place->second;
    use.count += sign * words_[word].count;
    if (sign > 0 && (is_new || use.words.back() != word)) {
      use.words.push_back(word);
    }
    if (is_new) {
      new_pairs_.push_back(pair);
    }
  }

  // Only pairs beside a joined one are counted anew: a text without blanks is one long word.
  void join(std::size_t number, TokenPair pair, Token token) {
    const Tokens old = std::move(words_[number].tokens);
    Tokens joined = merged(old, pair, token);
    std::size_t at = 0;
    for (std::size_t i = 0; i < joined.size(); ++i) {
      const bool is_joined = joined[i] == token;
      if (i > 0 && (is_joined || joined[i - 1] == token)) {
        count_pair(number, {old[at - 1], old[at]}, -1);
        count_pair(number, {joined[i - 1], joined[i]}, 1);
      }
      at += is_joined ? 2 : 1;
    }
    words_[number].tokens = std::move(joined);
  }

  void rank_new_pairs() {
    for (const TokenPair& pair : new_pairs_) {
      ranked_.push({.count = pairs_[pair].count, .pair = pair});
    }
    new_pairs_.clear();
  }

  // Once all of its words were counted, a pair only becomes rarer, which is seen when it is first.
  std::optional<TokenPair> most_frequent() {
    while (!ranked_.empty() && ranked_.top().count > 1) {
      Ranked first = ranked_.top();
      ranked_.pop();
      const std::int64_t count = pairs_[first.pair].count;
      if (count == first.count) {
        return first.pair;
      }
      first.count = count;
      ranked_.push(first);
    }
    return std::nullopt;
  }

  std::vector<Word> words_;
  std::unordered_map<TokenPair, PairUse, TokenPairHash> pairs_;
  std::vector<TokenPair> new_pairs_;  // not ranked yet
  std::priority_queue<Ranked> ranked_;
};

// A word whose pairs are joined in the order in which they were learned, those of one kind from the
// left. Tokens are linked, and the pairs that are there wait in a heap: a word of n bytes takes n
// log n.
class WordJoiner {
 public:
  WordJoiner(const std::unordered_map<TokenPair, Token, TokenPairHash>& tokens, Tokens word)
      : tokens_(tokens), word_(std::move(word)), next_(word_.size()), before_(word_.size()) {
    for (std::size_t i = 0; i < word_.size(); ++i) {
      next_[i] = i + 1;
      before_[i] = i - 1;  // of the first none, which is never asked for
      expect(i);
    }
  }

  Tokens joined() {
    while (!waiting_.empty()) {
      const auto [token, at] = waiting_.top();
      waiting_.pop();
      if (joins_to(at) == token) {
        join(at, token);
      }
    }
    Tokens result;
    for (std::size_t i = 0; i < word_.size(); i = next_[i]) {
      result.push_back(word_[i]);
    }
    return result;
  }

 private:
  static constexpr Token kNone = -1;

  // What the token at a place makes with the next.
  [[nodiscard]] Token joins_to(std::size_t at) const {
    if (word_[at] == kNone || next_[at] == word_.size()) {
      return kNone;
    }
    const auto found = tokens_.find({word_[at], word_[next_[at]]});
    return found == tokens_.end() ? kNone : found->second;
  }

  void expect(std::size_t at) {
    if (const Token token = joins_to(at); token != kNone) {
      waiting_.emplace(token, at);
    }
  }

  void join(std::size_t at, Token token) {
    const std::size_t second = next_[at];
    word_[at] = token;
    word_[second] = kNone;
    next_[at] = next_[second];
    if (next_[at] < word_.size()) {
      before_[next_[at]] = at;
    }
    expect(at);
    if (at > 0) {
      expect(before_[at]);
    }
  }

  using Waiting = std::pair<Token, std::size_t>;

  const std::unordered_map<TokenPair, Token, TokenPairHash>& tokens_;
  Tokens word_;  // none: joined to the one before
  std::vector<std::size_t> next_;
  std::vector<std::size_t> before_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
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
  return words_.emplace(word, WordJoiner(tokens_, tokens_of_bytes(word)).joined()).first->second;
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
