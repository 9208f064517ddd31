// A vocabulary of pairs of bytes learned from a text, and texts as its tokens.
//
// Tokens 0 to 255 are bytes, 256 and on the pairs in the order in which they were learned: each the
// most frequent pair of tokens then, of several the least one. No pair reaches over the begin of a
// word, which is a blank behind something else. So the same text has the same vocabulary anywhere.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mtf {

using Token = std::int32_t;
using Tokens = std::vector<Token>;
using TokenPair = std::pair<Token, Token>;

inline constexpr Token kByteTokens = 256;

struct TokenPairHash {
  std::size_t operator()(const TokenPair& pair) const {
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
    const std::uint64_t both =
        (static_cast<std::uint64_t>(pair.first) << 32U) | static_cast<std::uint32_t>(pair.second);
    return (both * kGolden) >> 20U;
  }
};

// Fewer than `count` where no pair is there twice.
[[nodiscard]] std::vector<TokenPair> learn_pairs(std::string_view text, std::int64_t count);

// "116 104\n256 101\n": the two tokens of each pair.
[[nodiscard]] std::string text_of_pairs(const std::vector<TokenPair>& pairs);
// nullopt: it is no such text.
[[nodiscard]] std::optional<std::vector<TokenPair>> read_pairs(std::string_view text);

class PairEncoder {
 public:
  explicit PairEncoder(const std::vector<TokenPair>& pairs);

  // Hands on the tokens of the text, word by word; the text may be as long as it likes.
  void encode(std::string_view text, const std::function<void(const Tokens&)>& take);

 private:
  struct WordHash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the library's name
    std::size_t operator()(std::string_view word) const {
      return std::hash<std::string_view>{}(word);
    }
  };

  const Tokens& of_word(std::string_view word);

  std::unordered_map<TokenPair, Token, TokenPairHash> tokens_;
  std::unordered_map<std::string, Tokens, WordHash, std::equal_to<>> words_;  // that were met
};

// The bytes of each token: 256, then those of the pairs; nothing in place of more than `most`.
[[nodiscard]] std::vector<std::string> bytes_of_tokens(const std::vector<TokenPair>& pairs,
                                                       std::size_t most);

}  // namespace mtf
