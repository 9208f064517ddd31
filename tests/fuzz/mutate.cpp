#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace fuzz {
namespace {

constexpr auto kNumbers = std::to_array<const char*>({"0",
                                                      "1",
                                                      "2",
                                                      "3",
                                                      "7",
                                                      "-1",
                                                      "64",
                                                      "1_000_003",
                                                      "10_000_000_000",
                                                      "2147483647",
                                                      "4294967296",
                                                      "4611686018427387904",
                                                      "9223372036854775807",
                                                      "9223372036854775808",
                                                      "1000000000000000000000000000000",
                                                      "0.5",
                                                      "1e308",
                                                      "1e-320",
                                                      "1e999",
                                                      "-0.0"});

constexpr std::size_t kMostText = 200'000;

// Bytes that no program has: half a character, what is not UTF-8, marks, controls.
constexpr auto kBytes = std::to_array<std::string_view>(
    {"\xff", "\xc3", "\xe2\x82", "\xed\xa0\x80", "\xf0\x9f\x98\x80", "\xef\xbb\xbf", "\r", "\t",
     "\x01", "\x7f", "\xc2\xa0", "\xe2\x80\xa8", "é", "\"", "\\", "{", "}", "\\u{110000}"});

std::string repeated(std::string_view part, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count && text.size() < kMostText; ++i) {
    text += part;
  }
  return text;
}

std::size_t many(Random& random) {
  constexpr std::array<std::size_t, 6> kCounts = {2, 13, 70, 400, 3000, 40000};
  return random.of(kCounts);
}

void change_bytes(Random& random, std::string& text) {
  const std::size_t at = random.below(text.size() + 1);
  switch (random.below(5)) {
    case 0:
      text.resize(at);
      break;
    case 1:
      text.erase(at, 1 + random.below(4));
      break;
    case 2:
      text.insert(at, random.of(kBytes));
      break;
    case 3:
      text.insert(at, 1, static_cast<char>(random.below(256)));
      break;
    default:
      if (at < text.size()) {
        text[at] = static_cast<char>(text[at] ^ (1U << random.below(8)));
      }
  }
}

// Something long or deep in the place of a token.
void grow(Random& random, std::vector<Token>& tokens) {
  Token& token = tokens[random.below(tokens.size())];
  const std::size_t count = many(random);
  constexpr auto kPairs = std::to_array<std::pair<const char*, const char*>>(
      {{"(", ")"}, {"[", "]"}, {"-", ""}, {"not ", ""}, {"{", "}"}, {"sum(", ")"}, {"\"{", "}\""}});
  const auto& [open, close] = random.of(kPairs);
  switch (random.below(4)) {
    case 0:
      token.text = repeated(token.text, count);
      break;
    case 1:
      token.text = token.text + repeated(" + " + token.text, count);
      break;
    case 2:
      token.text = "\"" + repeated("*", count) + "x" + repeated("*a", count) + "\"";
      break;
    default:
      token.text = repeated(open, count) + token.text + repeated(close, count);
  }
}

// What a statement may be moved into.
std::pair<std::string, std::string> random_block(Random& random, const std::vector<Token>& own) {
  std::vector<std::string> words = {"x"};
  for (const Token& token : own) {
    if (token.kind == Kind::kWord) {
      words.push_back(token.text);
    }
  }
  const std::string name = "f" + std::to_string(random.below(3));
  const std::string dim = random.of(words);
  switch (random.below(10)) {
    case 0:
      return {"fn " + name + "(x: f32[" + dim + "]) {\n", "}\n"};
    case 1:
      return {"fn " + name + "(x) {\n", "}\n" + name + "(" + dim + ")\n"};
    case 2:
      return {"model " + name + "(x: f32[" + dim + "]) {\n", "}\n"};
    case 3:
      return {"for i in 0..3 {\n", "}\n"};
    case 4:
      return {"if " + dim + " == 0 {\n", "} else {\nprint 1\n}\n"};
    case 5:
      return {"with layout " + dim + " {\n", "}\n"};
    case 6:
      return {"while " + dim + " < 3 {\n", "}\n"};
    case 7:
      return {"recompute {\n", "}\n"};
    case 8:
      return {"with precision bf16 {\n", "}\n"};
    default:
      return {"fn " + name + "() {\nfn inner(y) {\n", "return y\n}\nreturn inner(1)\n}\n"};
  }
}

std::string text_of(const std::vector<std::string>& lines, Chunk chunk) {
  std::string text;
  for (std::size_t i = chunk.begin; i < chunk.end; ++i) {
    text += lines[i];
  }
  return text.ends_with('\n') ? text : text + "\n";
}

}  // namespace

Mutator::Mutator(std::vector<Seed> seeds) : seeds_(std::move(seeds)) {
  std::array<std::set<std::string>, 4> found;  // in order, each once
  for (const Seed& seed : seeds_) {
    for (const Token& token : tokens_of(seed.text)) {
      if (token.kind >= Kind::kString) {
        found.at(static_cast<std::size_t>(token.kind) - static_cast<std::size_t>(Kind::kString))
            .insert(token.text);
      }
    }
  }
  const auto list = [](const std::set<std::string>& set) {
    return std::vector<std::string>(set.begin(), set.end());
  };
  pools_ = {.words = list(found[2]),
            .signs = list(found[3]),
            .strings = list(found[0]),
            .numbers = list(found[1])};
}

std::string Mutator::number(Random& random) const {
  return random.one_in(3) ? random.of(pools_.numbers) : random.of(kNumbers);
}

std::string Mutator::any_token(Random& random) const {
  switch (random.below(4)) {
    case 0:
      return random.of(pools_.signs);
    case 1:
      return number(random);
    case 2:
      return random.one_in(4) ? random.of(pools_.strings) : random.of(pools_.signs);
    default:
      return random.of(pools_.words);
  }
}

// Mostly of the same kind, and mostly one of the program's own: it gets further.
std::string Mutator::token_for(Random& random, const Token& old,
                               const std::vector<Token>& own) const {
  if (random.one_in(6)) {
    return any_token(random);
  }
  if (old.kind == Kind::kNumber && !random.one_in(3)) {
    return number(random);
  }
  std::vector<const Token*> same;
  for (const Token& token : own) {
    if (token.kind == old.kind) {
      same.push_back(&token);
    }
  }
  if (!same.empty() && !random.one_in(3)) {
    return random.of(same)->text;
  }
  return old.kind == Kind::kWord     ? random.of(pools_.words)
         : old.kind == Kind::kString ? random.of(pools_.strings)
                                     : any_token(random);
}

void Mutator::change_token(Random& random, std::string& text) const {
  std::vector<Token> tokens = tokens_of(text);
  std::vector<std::size_t> solid;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind >= Kind::kString || (tokens[i].kind == Kind::kLineEnd && random.one_in(8))) {
      solid.push_back(i);
    }
  }
  if (solid.empty()) {
    return;
  }
  const std::size_t at = random.of(solid);
  Token& token = tokens[at];
  switch (random.below(8)) {
    case 0:
      token.text.clear();
      break;
    case 1:
      token.text += " " + token.text;
      break;
    case 2:
      std::swap(token, tokens[random.of(solid)]);
      break;
    case 3:
      token.text = any_token(random) + " " + token.text;
      break;
    case 4:
      if (random.one_in(4)) {
        grow(random, tokens);
        break;
      }
      [[fallthrough]];
    default:
      token.text = token_for(random, token, tokens);
  }
  text = joined(tokens);
}

void Mutator::change_chunk(Random& random, std::string& text) const {
  std::vector<std::string> lines = lines_of(text);
  const std::vector<Chunk> chunks = chunks_of(lines);
  if (chunks.empty()) {
    return;
  }
  const auto place = [&lines](std::size_t line) {
    return lines.begin() + static_cast<std::ptrdiff_t>(line);
  };
  const Chunk chunk = random.of(chunks);
  const std::string body = text_of(lines, chunk);
  const std::size_t to = random.below(lines.size() + 1);
  switch (random.below(6)) {
    case 0:
      lines.erase(place(chunk.begin), place(chunk.end));
      break;
    case 1:
      lines.insert(place(to), body);
      break;
    case 2:  // moved
      lines.insert(place(to), body);
      if (to <= chunk.begin) {
        lines.erase(place(chunk.begin + 1), place(chunk.end + 1));
      } else if (to >= chunk.end) {
        lines.erase(place(chunk.begin), place(chunk.end));
      }
      break;
    case 3: {
      const auto [open, close] = random_block(random, tokens_of(text));
      lines.insert(place(chunk.end), close);
      lines.insert(place(chunk.begin), open);
      break;
    }
    case 4: {
      const std::vector<std::string> others = lines_of(random.of(seeds_).text);
      const std::vector<Chunk> there = chunks_of(others);
      lines.insert(place(to), there.empty() ? "" : text_of(others, random.of(there)));
      break;
    }
    default:
      lines.insert(place(to), repeated(body, 1 + random.below(3)));
  }
  text = joined(lines);
}

void Mutator::mutate(Random& random, std::string& text) const {
  const std::size_t kind = random.below(20);
  if (kind < 13) {
    change_token(random, text);
  } else if (kind < 19) {
    change_chunk(random, text);
  } else {
    change_bytes(random, text);
  }
  if (text.size() > kMostText) {
    text.resize(kMostText);
  }
}

// A change after which it may well be a program still: it gets to the planner, and runs.
void Mutator::vary(Random& random, std::string& text) const {
  if (random.one_in(4)) {
    change_chunk(random, text);
    return;
  }
  std::vector<Token> tokens = tokens_of(text);
  const Kind kind = random.one_in(3) ? Kind::kNumber : Kind::kWord;
  std::vector<Token*> same;
  for (Token& token : tokens) {
    if (token.kind == kind || (kind == Kind::kWord && token.kind == Kind::kSign)) {
      same.push_back(&token);
    }
  }
  if (same.empty()) {
    return;
  }
  Token& token = *random.of(same);
  if (kind == Kind::kNumber) {
    constexpr auto kSmall = std::to_array<const char*>({"0", "1", "2", "3", "4", "6", "12"});
    token.text = random.one_in(2) ? random.of(kSmall) : number(random);
  } else {
    const Token& other = *random.of(same);
    token.text = other.kind == token.kind ? other.text : token.text;
  }
  text = joined(tokens);
}

Mutant Mutator::mutant(std::uint64_t seed, std::uint64_t index, const std::string& command) const {
  Random random(Random(seed).next() ^ Random(index).next());
  Mutant mutant{.seed = &random.of(seeds_), .text = {}, .args = {}};
  while (!mutant.seed->is_right && !random.one_in(4)) {
    mutant.seed = &random.of(seeds_);
  }
  mutant.text = mutant.seed->text;
  const bool is_mild = !random.one_in(3);
  do {
    is_mild ? vary(random, mutant.text) : mutate(random, mutant.text);
  } while (random.one_in(is_mild ? 3 : 2));
  mutant.args = random_args(random, *mutant.seed, mutant.text, command);
  return mutant;
}

}  // namespace fuzz
