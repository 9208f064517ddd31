// Command lines for mutants.

#include <array>

#include "tests/fuzz/mutate.h"

namespace fuzz {
namespace {

// The word behind each `before`, and some that are none.
std::vector<std::string> names_after(const std::vector<Token>& tokens, std::string_view before) {
  std::vector<std::string> names = {"none", "nowhere"};
  std::string last;
  for (const Token& token : tokens) {
    if (token.kind == Kind::kWord && last == before) {
      names.push_back(token.text);
    }
    last = token.kind == Kind::kSpace ? last : token.text;
  }
  return names;
}

std::vector<std::string> words_in(const std::vector<Token>& tokens) {
  std::vector<std::string> words = {"x"};
  for (const Token& token : tokens) {
    if (token.kind == Kind::kWord) {
      words.push_back(token.text);
    }
  }
  return words;
}

std::string random_command(Random& random) {
  constexpr auto kOften =
      std::to_array<const char*>({"plan", "plan", "cost", "run", "run", "run", "why", "why",
                                  "verify", "verify", "diff", "diff", "emit", "emit", "ops"});
  return random.below(10) < 6 ? "check" : random.of(kOften);
}

class Line {
 public:
  Line(Random& random, const std::string& text) : random_(random), tokens_(tokens_of(text)) {}

  void add(std::vector<std::string> words) {
    words_.insert(words_.end(), words.begin(), words.end());
  }
  // One time in n.
  void maybe(std::size_t n, std::vector<std::string> words) {
    if (random_.one_in(n)) {
      add(std::move(words));
    }
  }
  [[nodiscard]] std::string layout() { return random_.of(names_after(tokens_, "layout")); }
  [[nodiscard]] std::string word() { return random_.of(words_in(tokens_)); }
  [[nodiscard]] std::string entry() { return random_.of(names_after(tokens_, "fn")); }

  void common() {
    maybe(12, {"--mesh", word() + "=" + size() + (random_.one_in(2) ? "" : "," + word() + "=2")});
    maybe(16, {"--rules", word() + ":" + word() + (random_.one_in(2) ? "" : ";" + word() + ":*")});
    maybe(30, {"--set", word() + "=" + size()});
  }
  void layouts() {
    maybe(3, {"--layout", layout()});
    common();
  }
  [[nodiscard]] std::vector<std::string> words() && { return std::move(words_); }

 private:
  [[nodiscard]] std::string size() {
    constexpr auto kSizes =
        std::to_array<const char*>({"1", "2", "2", "3", "4", "8", "0", "-1", "1024", "9999999999"});
    return random_.of(kSizes);
  }

  Random& random_;
  std::vector<Token> tokens_;
  std::vector<std::string> words_;
};

std::string question(Random& random, Line& line) {
  constexpr auto kOther = std::to_array<const char*>(
      {"memory", "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "permute", "", "?"});
  switch (random.below(3)) {
    case 0:
      return ":" + std::to_string(random.below(40));
    case 1:
      return random.of(kOther);
    default:
      return line.word();
  }
}

// A run ends by itself: what it may take is said to it.
std::vector<std::string> bounds() {
  return {"--max-memory", "1000", "--timeout", "2"};
}

}  // namespace

std::vector<std::string> random_args(Random& random, const Seed& seed, const std::string& text,
                                     const std::string& only) {
  if (only.empty() && !seed.args.empty() && random.one_in(3)) {
    std::vector<std::string> args = random.of(seed.args);
    if (args.front() == "run" || args.front() == "verify") {
      const std::vector<std::string> more = bounds();
      args.insert(args.end(), more.begin(), more.end());
    }
    args.emplace_back("FILE");
    return args;
  }
  const std::string command = only.empty() ? random_command(random) : only;
  Line line(random, text);
  if (command == "ops") {
    line.add({"ops", line.word()});
    return std::move(line).words();
  }
  line.add({command == "emit" ? "check" : command, "FILE"});
  if (command == "emit") {
    constexpr auto kPhases =
        std::to_array<const char*>({"ast", "ir", "grad", "sharded", "spmd", "spmd"});
    line.add({"--emit", random.of(kPhases)});
    line.layouts();
  } else if (command == "check") {
    line.layouts();
    line.maybe(4, {"--lint"});
  } else if (command == "diff") {
    line.add({line.layout(), line.layout()});
    line.maybe(3, {line.entry()});
    line.common();
  } else if (command == "why") {
    line.add({question(random, line)});
    line.maybe(3, {line.entry()});
    line.layouts();
  } else if (command == "plan") {
    line.maybe(3, {line.entry()});
    line.maybe(6, {"--rank", std::to_string(random.below(9))});
    line.layouts();
  } else if (command == "cost") {
    line.maybe(3, {line.entry()});
    line.maybe(8, {"--hardware", line.word()});
    line.layouts();
  } else {
    line.add(bounds());
    line.layouts();
    if (command == "run") {
      line.maybe(8, {"--count"});
      line.maybe(8, {"--profile"});
    }
  }
  if (command != "verify") {
    line.maybe(8, {"--json"});
  }
  if (command != "check" && command != "emit") {
    line.maybe(6, {"--fast"});
  }
  return std::move(line).words();
}

}  // namespace fuzz
