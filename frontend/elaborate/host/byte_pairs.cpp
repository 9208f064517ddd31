// byte_pairs, encode_pairs and decode_pairs: a vocabulary of pairs of bytes learned from a text,
// and texts as its tokens.
//
// Tokens 0 to 255 are bytes, 256 and on the pairs in the order in which they were learned: each the
// most frequent pair of tokens then, of several the least one. No pair reaches over the begin of a
// word, which is a blank behind something else. So the same text has the same vocabulary anywhere.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/host/list.h"
#include "frontend/elaborate/host/operators.h"
#include "ir/support/utf8.h"

namespace mtf::host {
namespace {

using Token = std::int32_t;
using Tokens = std::vector<Token>;
using TokenPair = std::pair<Token, Token>;

constexpr Token kBytes = 256;
constexpr std::int64_t kMostPairs = 100'000;

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

Tokens bytes_of(std::string_view word) {
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
    std::map<std::string_view, std::int64_t> words;
    for_each_word(text, [&](std::string_view word) { ++words[word]; });
    for (const auto& [word, count] : words) {
      words_.push_back({.tokens = bytes_of(word), .count = count});
      count_pairs(words_.size() - 1, 1);
    }
  }

  // Fewer where no pair is there twice.
  std::vector<TokenPair> learn(std::int64_t count) {
    std::vector<TokenPair> learned;
    for (Token token = kBytes; token < kBytes + count; ++token) {
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

// "116 104\n256 101\n": the two tokens of each pair.
std::string text_of_pairs(const std::vector<TokenPair>& pairs) {
  std::string text;
  for (const auto& [first, second] : pairs) {
    text += std::to_string(first) + " " + std::to_string(second) + "\n";
  }
  return text;
}

// nullopt: it is no such text.
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
    const auto known = static_cast<Token>(kBytes + static_cast<Token>(pairs.size()));
    if (!second || *first < 0 || *first >= known || *second < 0 || *second >= known) {
      return std::nullopt;
    }
    pairs.emplace_back(*first, *second);
  }
  return pairs;
}

class PairEncoder {
 public:
  explicit PairEncoder(const std::vector<TokenPair>& pairs) {
    for (const TokenPair& pair : pairs) {
      tokens_.try_emplace(pair, kBytes + static_cast<Token>(tokens_.size()));
    }
  }

  const Tokens& encode(std::string_view word) {
    const auto [known, is_new] = words_.try_emplace(std::string(word));
    if (is_new) {
      known->second = encoded(bytes_of(word));
    }
    return known->second;
  }

 private:
  // Pairs are joined in the order in which they were learned.
  [[nodiscard]] Tokens encoded(Tokens word) const {
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

  std::map<TokenPair, Token> tokens_;
  std::unordered_map<std::string, Tokens> words_;
};

// Bytes that are no UTF-8, as half of a letter, become U+FFFD.
std::string readable(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::uint32_t length = first_code_point(bytes).length;
    text += length == 0 ? "\xEF\xBF\xBD" : bytes.substr(0, length);
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

struct PairArguments {
  Operand first;
  Operand second;
};

// nullopt: an error, or not known yet.
std::optional<PairArguments> pair_arguments(Context& c, const HostFn& self, const ast::Call& call,
                                            std::vector<Formal> formals, SourceSpan span) {
  const std::optional<Bound> bound =
      bind_required(c.report, c.names, self.name, formals, call, span);
  if (!bound) {
    return std::nullopt;
  }
  const ast::Expr& first = *(*bound)[0].front();
  const ast::Expr& second = *(*bound)[1].front();
  PairArguments arguments{.first = {.value = evaluate(c, first), .span = first.span},
                          .second = {.value = evaluate(c, second), .span = second.span}};
  const bool known = !is_unknown(arguments.first.value) && !is_unknown(arguments.second.value);
  return known ? std::optional(std::move(arguments)) : std::nullopt;
}

std::optional<std::vector<TokenPair>> pairs_in(Reporter& report, const HostFn& self,
                                               const Operand& x) {
  const auto* text = x.value.get<std::string>();
  std::optional<std::vector<TokenPair>> pairs = text ? read_pairs(*text) : std::nullopt;
  if (text == nullptr) {
    static_cast<void>(wrong_argument(report, self, x, "the text that `byte_pairs` gives"));
  } else if (!pairs) {
    report.error(DiagKind::kBadArgument, x.span,
                 "this is no vocabulary, which `byte_pairs(text, count)` learns: each line has two "
                 "tokens, bytes or pairs of lines before it");
  }
  return pairs;
}

}  // namespace

Value byte_pairs_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const auto given = pair_arguments(c, self, call, {{.name = "text"}, {.name = "count"}}, span);
  if (!given) {
    return unknown();
  }
  const auto* text = given->first.value.get<std::string>();
  const std::optional<std::int64_t> count = as_int(given->second.value);
  if (text == nullptr) {
    return wrong_argument(c.report, self, given->first, "a string");
  }
  if (!count || *count < 0 || *count > kMostPairs) {
    c.report.error(DiagKind::kBadArgument, given->second.span,
                   "the number of pairs is from 0 to " + std::to_string(kMostPairs) +
                       "; a vocabulary has 256 bytes as well");
    return unknown();
  }
  return make(text_of_pairs(PairLearner(*text).learn(*count)));
}

Value encode_pairs_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const auto given = pair_arguments(c, self, call, {{.name = "text"}, {.name = "pairs"}}, span);
  if (!given) {
    return unknown();
  }
  const auto* text = given->first.value.get<std::string>();
  if (text == nullptr) {
    return wrong_argument(c.report, self, given->first, "a string");
  }
  const std::optional<std::vector<TokenPair>> pairs = pairs_in(c.report, self, given->second);
  if (!pairs) {
    return unknown();
  }
  PairEncoder encoder(*pairs);
  Values tokens;
  for_each_word(*text, [&](std::string_view word) {
    for (const Token token : encoder.encode(word)) {
      tokens.push_back(make(std::int64_t{token}));
    }
  });
  return bounded_list(c.report, std::move(tokens), span);
}

Value decode_pairs_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const auto given = pair_arguments(c, self, call, {{.name = "tokens"}, {.name = "pairs"}}, span);
  const auto* list = given ? given->first.value.get<List>() : nullptr;
  if (list == nullptr) {
    return given ? wrong_argument(c.report, self, given->first, "a list of tokens") : unknown();
  }
  const std::optional<std::vector<TokenPair>> pairs = pairs_in(c.report, self, given->second);
  if (!pairs) {
    return unknown();
  }
  std::vector<std::string> bytes;
  bytes.reserve(kBytes + pairs->size());
  for (Token token = 0; token < kBytes; ++token) {
    bytes.emplace_back(1, static_cast<char>(token));
  }
  for (const auto& [first, second] : *pairs) {
    std::string both =
        bytes[static_cast<std::size_t>(first)] + bytes[static_cast<std::size_t>(second)];
    bytes.push_back(both.size() > kMaxText ? "" : std::move(both));
  }
  std::string text;
  for (const Value& item : *list->items) {
    const std::optional<std::int64_t> token = as_int(item);
    if (!token || *token < 0 || *token >= static_cast<std::int64_t>(bytes.size())) {
      c.report.error(DiagKind::kBadArgument, given->first.span,
                     mtf::host::to_string(item) + " is no token: they go from 0 to " +
                         std::to_string(bytes.size() - 1));
      return unknown();
    }
    text += bytes[static_cast<std::size_t>(*token)];
    if (text.size() > kMaxText) {
      c.report.error(DiagKind::kOverflow, span,
                     "a text of more than " + std::to_string(kMaxText) + " bytes");
      return unknown();
    }
  }
  return make(readable(text));
}

}  // namespace mtf::host
