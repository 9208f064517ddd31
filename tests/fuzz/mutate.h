// Mutants: a program of the tree, changed in a few places, and a command to give it to. Mutant
// number i of a seed is always the same.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/corpus.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/tokens.h"

namespace fuzz {

struct Mutant {
  const Seed* seed = nullptr;
  std::string text;
  std::vector<std::string> args;  // "FILE" stands for its path
};

class Mutator {
 public:
  explicit Mutator(std::vector<Seed> seeds);

  // `command`: the only one; empty: all, `check` more often than the others.
  [[nodiscard]] Mutant mutant(std::uint64_t seed, std::uint64_t index,
                              const std::string& command) const;
  [[nodiscard]] const std::vector<Seed>& seeds() const { return seeds_; }

 private:
  struct Pools {  // of the whole corpus
    std::vector<std::string> words;
    std::vector<std::string> signs;
    std::vector<std::string> strings;
    std::vector<std::string> numbers;
  };

  void vary(Random& random, std::string& text) const;
  void mutate(Random& random, std::string& text) const;
  void change_token(Random& random, std::string& text) const;
  void change_chunk(Random& random, std::string& text) const;
  [[nodiscard]] std::string token_for(Random& random, const Token& old,
                                      const std::vector<Token>& own) const;
  [[nodiscard]] std::string any_token(Random& random) const;
  [[nodiscard]] std::string number(Random& random) const;

  std::vector<Seed> seeds_;
  Pools pools_;
};

// The words of a command line for the program: options that name what it declares, or nearly.
[[nodiscard]] std::vector<std::string> random_args(Random& random, const Seed& seed,
                                                   const std::string& text,
                                                   const std::string& command);

}  // namespace fuzz
