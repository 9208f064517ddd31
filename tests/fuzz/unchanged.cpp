#include "tests/fuzz/unchanged.h"

#include <algorithm>

namespace fuzz {
namespace {

using Words = std::vector<std::string>;

// The names that follow `layout`, and "" for no option.
Words layouts_of(const std::string& text) {
  Words names = {""};
  std::string last;
  for (const Token& token : tokens_of(text)) {
    if (token.kind == Kind::kWord && last == "layout" &&
        std::ranges::find(names, token.text) == names.end()) {
      names.push_back(token.text);
    }
    last = token.kind == Kind::kSpace ? last : token.text;
  }
  return names;
}

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Of one layout; a run ends by itself, so what it may take is said to it.
std::vector<Words> command_lines(const std::string& layout) {
  const Words bounds = {"--max-memory", "1000", "--timeout", "5"};
  std::vector<Words> lines = {{"check", "FILE", "--lint"},
                              {"plan", "FILE"},
                              {"plan", "FILE", "--fast", "--json"},
                              {"plan", "FILE", "--rank", "1"},
                              {"cost", "FILE"},
                              {"cost", "FILE", "--json"},
                              with({"run", "FILE"}, bounds),
                              with({"run", "FILE", "--count", "--profile"}, bounds),
                              with({"run", "FILE", "--fast", "--json"}, bounds)};
  for (const char* phase : {"ast", "ir", "grad", "sharded", "spmd"}) {
    lines.push_back({"check", "FILE", "--emit", phase});
  }
  for (const char* asked : {"memory", "all_reduce", "loss", "x", ":7", ":23"}) {
    lines.push_back({"why", "FILE", asked});
  }
  lines.push_back({"why", "FILE", "all_gather", "--json"});
  if (layout.empty()) {
    lines.push_back(with({"verify", "FILE"}, bounds));
    return lines;
  }
  for (Words& line : lines) {
    line.insert(line.end(), {"--layout", layout});
  }
  lines.push_back({"diff", "FILE", "none", layout});
  return lines;
}

// So that a search cut short has seen something of all.
void mix(std::vector<Mutant>& trials) {
  Random random(1);
  for (std::size_t left = trials.size(); left > 1; --left) {
    std::swap(trials[left - 1], trials[random.below(left)]);
  }
}

}  // namespace

std::vector<Mutant> unchanged(const std::vector<Seed>& seeds, const std::string& only) {
  std::vector<Mutant> trials;
  for (const Seed& seed : seeds) {
    std::vector<Words> lines = seed.args;
    for (Words& line : lines) {
      line.emplace_back("FILE");
    }
    for (const std::string& layout : layouts_of(seed.text)) {
      for (Words& line : command_lines(layout)) {
        lines.push_back(std::move(line));
      }
    }
    for (Words& line : lines) {
      if (only.empty() || line.front() == only) {
        trials.push_back({.seed = &seed, .text = seed.text, .args = std::move(line)});
      }
    }
  }
  mix(trials);
  return trials;
}

}  // namespace fuzz
